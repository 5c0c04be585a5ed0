package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	method, path, body := "GET", "/pets", ""
	switch os.Getenv("PETSTORE_CALL") {
	case "createPet":
		method, body = "POST", os.Getenv("PETSTORE_PET")
	case "getPet":
		path += "/" + os.Getenv("PETSTORE_ID")
	case "listPets":
		path += "?limit=" + os.Getenv("PETSTORE_LIMIT")
	default:
		os.Exit(77) // walk: not supported
	}
	// Your SDK takes the place of this.
	request, _ := http.NewRequest(method, os.Getenv("PETSTORE_URL")+path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PETSTORE_KEY"))
	request.Header.Set("Content-Type", "application/json")
	timeout, _ := time.ParseDuration(os.Getenv("PETSTORE_TIMEOUT_MS") + "ms")
	response, err := (&http.Client{Timeout: timeout}).Do(request)
	if err != nil {
		log.Fatal(err)
	}
	output, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode > 299 || !json.Valid(output) {
		log.Fatal(response.Status, err)
	}
	os.Stdout.Write(output)
}
