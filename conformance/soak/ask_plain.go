package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// viaNothing asks the platform itself with the plain HTTP client, and reads of the
// answer no more than where its pieces are: what is left of any latency is not the
// gateway's.
type viaNothing struct {
	client *http.Client
	urls   map[string]string // of the emulator, by protocol
}

func (p *viaNothing) ask(ctx context.Context, j *job, a *answer) error {
	url := p.urls[j.Proto] + "/v1/projects/soak/locations/us-central1/publishers/"
	body := `{"contents":[{"role":"user","parts":[{"text":"` + j.prompt() + `"}]}]}`
	switch {
	case j.Family == gemini && j.Unary:
		url += "google/models/gemini-2.5-flash:generateContent"
	case j.Family == gemini:
		url += "google/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
	default:
		verb := "streamRawPredict"
		if j.Unary {
			verb = "rawPredict"
		}
		url += "anthropic/models/claude-sonnet-4-5@20250929:" + verb
		body = fmt.Sprintf(`{"anthropic_version":"vertex-2023-10-16","max_tokens":4096,"stream":%v,"messages":[{"role":"user","content":%q}]}`, !j.Unary, j.prompt())
	}
	res, err := send(ctx, p.client, url, []byte(body), map[string]string{"Authorization": "Bearer token"})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return &refusal{status: res.StatusCode}
	}
	// What is not looked at is as it must be.
	a.thoughts, a.texts, a.calls = j.Thoughts, j.Pieces-j.Thoughts-j.Calls, j.Calls
	a.finish, a.done = j.finish(), true
	a.use(j.promptTokens(), j.visibleTokens()+j.thoughtTokens())
	if j.Unary {
		text, err := io.ReadAll(res.Body)
		a.take(string(text), false, time.Now())
		return err
	}
	return eachLine(res.Body, func(line []byte, seen time.Time) (bool, error) {
		if text := string(line); strings.HasPrefix(text, "data: ") {
			a.take(text, false, seen)
		}
		return true, nil
	})
}

func (*viaNothing) code(err error) string { return codeOf(err) }

// codeOf is the gateway's word for an error that came over HTTP.
func codeOf(err error) string {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r.code
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return ""
}
