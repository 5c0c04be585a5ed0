// Run it with `go test`. Each test package is a process with its own sandbox, and each test has a
// world of its own. In go.mod, `ignore ./node_modules` keeps npm's packages out of `./...`.
package petstore

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const sandbox = "npx --no petstore sandbox --quiet --with-stdin --worlds --pets 50"

var store struct{ URL, Control string }

// On a reused connection net/http itself would send a request with an Idempotency-Key again.
var client = http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func TestMain(m *testing.M) {
	words := strings.Fields(sandbox)
	command := exec.Command(words[0], words[1:]...)
	stdin, _ := command.StdinPipe()
	stdout, _ := command.StdoutPipe()
	if err := command.Start(); err != nil {
		panic(err)
	}
	if err := json.NewDecoder(stdout).Decode(&store); err != nil {
		panic(err)
	}
	code := m.Run()
	stdin.Close() // ends the sandbox
	command.Wait()
	os.Exit(code)
}

// A world is the key of a test, which has pets, faults and a journal of its own.
type world string

func begin(t *testing.T) world {
	t.Parallel()
	w := world("test-" + rand.Text())
	t.Cleanup(func() { w.send("DELETE", store.Control, "") })
	return w
}

func (w world) send(method, url, body string, header ...string) (string, error) {
	request, _ := http.NewRequest(method, url, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+string(w))
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// The client under test.
func addPet(w world, pet, idempotencyKey string) (text string, err error) {
	for range 3 {
		text, err = w.send("POST", store.URL+"/pets", pet, "Idempotency-Key", idempotencyKey)
		if err == nil {
			break // otherwise there was no answer: send it again, with the same key
		}
	}
	return text, err
}

func TestLostAnswer(t *testing.T) {
	w := begin(t)
	w.send("POST", store.Control+"/faults", `{"when":{"method":"POST"},"lose":true,"work":true}`)
	rex, err := addPet(w, `{"name":"Rex","categoryId":1}`, "a")
	if err != nil || !strings.HasPrefix(rex, `{"id":51,`) {
		t.Fatal(rex, err)
	}
	text, _ := w.send("GET", store.Control+"/requests", "")
	var requests []struct{ Status *int }
	if err := json.Unmarshal([]byte(text), &requests); err != nil {
		t.Fatal(err)
	}
	if len(requests) != 2 || requests[0].Status != nil || *requests[1].Status != 201 {
		t.Fatal(text)
	}
}

func TestLostRequest(t *testing.T) {
	w := begin(t)
	w.send("POST", store.Control+"/faults", `{"lose":true,"when":{"method":"POST"}}`)
	tom, err := addPet(w, `{"name":"Tom","categoryId":1}`, "a")
	if err != nil || !strings.HasPrefix(tom, `{"id":51,`) {
		t.Fatal(tom, err)
	}
}
