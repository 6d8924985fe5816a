package vertextest_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const exampleURL = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/gemini-3.8-flash"

// send posts a body with a token and returns status and body.
func send(client *http.Client, url, body string) (string, string) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err.Error(), ""
	}
	req.Header.Set("Authorization", "Bearer any")
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return err.Error(), ""
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return res.Status, err.Error()
	}
	return res.Status, string(b)
}

func Example() {
	srv := vertextest.New()
	defer srv.Close()
	client := &http.Client{Transport: srv.Transport()}

	status, body := send(client, exampleURL+":generateContent",
		`{"contents":[{"role":"user","parts":[{"text":"Is anybody there?"}]}]}`)
	fmt.Println(status)
	fmt.Println(regexp.MustCompile(`"text": ".*"`).FindString(body))

	status, body = send(client, exampleURL+":generateContent",
		`{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"candidateCount":1}}`)
	fmt.Println(status)
	fmt.Println(regexp.MustCompile(`"message": ".*"`).FindString(body))
	// Output:
	// 200 OK
	// "text": "You said: \"Is anybody there?\"."
	// 400 Bad Request
	// "message": "Unable to submit request because candidate_count is not supported by this model."
}

func ExampleServer_Script() {
	srv := vertextest.New()
	defer srv.Close()
	srv.Script(
		vertextest.RateLimited(2*time.Second),
		vertextest.Text("Good morning to you.").CutAfterEvents(1),
	)
	client := &http.Client{Transport: srv.Transport()}

	const hello = `{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}`
	for range 3 {
		status, body := send(client, exampleURL+":streamGenerateContent?alt=sse", hello)
		fmt.Println(status, strings.Contains(body, "unexpected EOF"))
	}
	fmt.Println(len(srv.Requests()), "requests")
	// Output:
	// 429 Too Many Requests false
	// 200 OK true
	// 200 OK false
	// 3 requests
}
