package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
	client, err := NewClientWithResponses(os.Getenv("PETSTORE_URL"), WithRequestEditorFn(edit))
	check(err)

	ctx := context.Background()
	// With the same key it can be sent again: a lost answer adds no second pet.
	key := rand.Text()
	params := &CreatePetParams{IdempotencyKey: &key}
	created, err := client.CreatePetWithResponse(ctx, params, NewPet{Name: "Rex", CategoryId: 9007199254740993})
	check(err)
	if created.JSON201 == nil {
		fail(created.Status(), created.Body)
	}
	for limit := int32(1); ; {
		page, err := client.ListPetsWithResponse(ctx, &ListPetsParams{Limit: &limit})
		check(err)
		if page.JSON200 == nil {
			fail(page.Status(), page.Body)
		}
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

func fail(status string, body []byte) {
	var refusal Error
	// A proxy may answer with something other than JSON, which has no code.
	_ = json.Unmarshal(body, &refusal)
	switch refusal.Code {
	case "":
		log.Fatalf("HTTP %s, not from the pet store", status)
	case "unauthorized":
		log.Fatalf("%s: set PETSTORE_KEY to a valid key", refusal.Code)
	default:
		log.Fatalf("%s: %s", refusal.Code, refusal.Message)
	}
}
