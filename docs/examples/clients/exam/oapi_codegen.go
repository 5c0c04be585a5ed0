package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	var next string
	edit := func(_ context.Context, request *http.Request) (err error) {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("PETSTORE_KEY"))
		request.URL, err = request.URL.Parse(next)
		return err
	}
	timeout, _ := time.ParseDuration(os.Getenv("PETSTORE_TIMEOUT_MS") + "ms")
	client, err := NewClientWithResponses(os.Getenv("PETSTORE_URL"), WithRequestEditorFn(edit), WithHTTPClient(&http.Client{Timeout: timeout}))
	check(err)
	ctx := context.Background()
	size, _ := strconv.ParseInt(os.Getenv("PETSTORE_LIMIT"), 10, 32)
	limit := int32(size)
	switch os.Getenv("PETSTORE_CALL") {
	case "createPet":
		var pet NewPet
		check(json.Unmarshal([]byte(os.Getenv("PETSTORE_PET")), &pet))
		created, err := client.CreatePetWithResponse(ctx, nil, pet)
		check(err)
		if created.JSON201 == nil {
			log.Fatal(created.Status())
		}
		show(created.JSON201)
	case "getPet":
		id, _ := strconv.ParseInt(os.Getenv("PETSTORE_ID"), 10, 64)
		found, err := client.GetPetWithResponse(ctx, id)
		check(err)
		if found.JSON200 == nil {
			log.Fatal(found.Status())
		}
		show(found.JSON200)
	case "listPets":
		page, err := client.ListPetsWithResponse(ctx, &ListPetsParams{Limit: &limit})
		check(err)
		if page.JSON200 == nil {
			log.Fatal(page.Status())
		}
		show(page.JSON200)
	default:
		pets := Pets{}
		for {
			page, err := client.ListPetsWithResponse(ctx, &ListPetsParams{Limit: &limit})
			check(err)
			if page.JSON200 == nil {
				log.Fatal(page.Status())
			}
			pets = append(pets, *page.JSON200...)
			if page.Headers200.Link == nil {
				break
			}
			next, _, _ = strings.Cut(strings.TrimPrefix(*page.Headers200.Link, "<"), ">")
		}
		show(pets)
	}
}

func show(value any) {
	text, err := json.Marshal(value)
	check(err)
	fmt.Println(string(text))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
