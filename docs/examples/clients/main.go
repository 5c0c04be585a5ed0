package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	var next string
	// Adds the key, and follows a Link to the next page.
	edit := func(_ context.Context, request *http.Request) (err error) {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("PETSTORE_KEY"))
		request.URL, err = request.URL.Parse(next)
		return err
	}
	client, err := NewClientWithResponses("http://127.0.0.1:8000/v1", WithRequestEditorFn(edit))
	check(err)

	ctx := context.Background()
	created, err := client.CreatePetWithResponse(ctx, nil, NewPet{Name: "Rex", CategoryId: 9007199254740993})
	check(err)
	if created.JSON401 != nil {
		log.Fatal(created.JSON401.Code)
	}
	for limit := int32(1); ; {
		page, err := client.ListPetsWithResponse(ctx, &ListPetsParams{Limit: &limit})
		check(err)
		for _, pet := range *page.JSON200 {
			fmt.Println(pet.Id, pet.Name, pet.CategoryId)
		}
		if page.Headers200.Link == nil {
			return
		}
		next, _, _ = strings.Cut(strings.TrimPrefix(*page.Headers200.Link, "<"), ">")
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
