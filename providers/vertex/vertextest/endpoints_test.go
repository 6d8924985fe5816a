package vertextest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestEndpoints(t *testing.T) {
	own := vertextest.Endpoint{ID: "42", Model: "gemma", Dedicated: true}
	s := vertextest.New(
		vertextest.WithDeployed(vertextest.Endpoint{ID: "7", Model: "llama"}),
		vertextest.WithDeployed(own),
		vertextest.WithEndpoint("8", "gemini-2.5-flash"),
	)
	defer s.Close()
	const path = "/v1/projects/p/locations/us-central1/endpoints/"
	const shared = "https://us-central1-aiplatform.googleapis.com"
	dedicated := "https://" + own.Host("p", "us-central1")
	chat := chatBody("", told("user", "Hi"))
	for _, c := range []struct {
		name, url, body string
		status          int
		want            string
	}{
		{"shared endpoint", shared + path + "7/chat/completions", chat, 200, `"model":"llama"`},
		{"any model", shared + path + "7/chat/completions", chatBody("whatever", told("user", "Hi")), 200, `"model":"llama"`},
		{"dedicated endpoint at its host", dedicated + path + "42/chat/completions", chat, 200, `"model":"gemma"`},
		{"dedicated endpoint at a socket", "http://127.0.0.1:1" + path + "42/chat/completions", chat, 200, `"model":"gemma"`},
		{"dedicated endpoint at a shared host", shared + path + "42/chat/completions", chat, 400, "dedicated dns name '" + own.Host("p", "us-central1") + "'"},
		{"dedicated endpoint at a multi-region host", "https://aiplatform.eu.rep.googleapis.com" + path + "42:predict", `{"instances":[1]}`, 400, "FAILED_PRECONDITION"},
		{"shared endpoint at another's host", dedicated + path + "7/chat/completions", chat, 404, "does not exist"},
		{"unknown endpoint", shared + path + "9/chat/completions", chat, 404, "does not exist"},
		{"refused body", shared + path + "7/chat/completions", chatBody("", told("robot", "Hi")), 400, `"type":"BadRequestError"`},
		{"prediction", shared + path + "7:predict", `{"instances":[{"prompt":"Hi"},{"a":1}]}`, 200, `Output:\nHello!`},
		{"chat in a prediction", shared + path + "7:predict", `{"instances":[{"@requestFormat":"chatCompletions","messages":[{"role":"user","content":"Hi"}]}]}`, 200, `"object": "chat.completion"`},
		{"prediction without instances", shared + path + "7:predict", `{"inputs":[]}`, 400, "missing instances"},
		{"prediction that isn't JSON", shared + path + "7:predict", `{`, 400, "INVALID_ARGUMENT"},
		{"prediction of an unknown endpoint", shared + path + "9:predict", `{"instances":[1]}`, 404, "does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a := post(t, s, c.url, c.body); a.status != c.status || !strings.Contains(string(a.body), c.want) {
				t.Errorf("status %d, body %s", a.status, a.body)
			}
		})
	}
	for _, c := range []struct {
		name, url string
		status    int
		want      string
	}{
		{"about a dedicated endpoint", shared + path + "42", 200, `"dedicatedEndpointDns": "` + own.Host("p", "us-central1") + `"`},
		{"about a shared endpoint", shared + path + "7", 200, `"displayName": "llama"`},
		{"about a tuned endpoint", shared + path + "8", 200, `"displayName": "gemini-2.5-flash"`},
		{"about an unknown endpoint", shared + path + "9", 404, "NOT_FOUND"},
		{"at the dedicated host", dedicated + path + "42", 404, "NOT_FOUND"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer token")
			a := do(t, s, r)
			if a.status != c.status || !strings.Contains(string(a.body), c.want) {
				t.Errorf("status %d, body %s", a.status, a.body)
			}
			if strings.HasSuffix(c.url, "/7") && strings.Contains(string(a.body), "dedicated") {
				t.Errorf("a shared endpoint has a host: %s", a.body)
			}
			if last := s.Requests()[len(s.Requests())-1]; last.Verb != "getEndpoint" || last.Model == "" {
				t.Errorf("recorded %+v", last)
			}
		})
	}
}

func TestEndpointPathsWithoutRoute(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	for _, path := range []string{"endpoints", "endpoints/", "endpoints//chat/completions", "endpoints/7/chat", "endpoints/7/chat/completions/8", "endpoints/7:a/chat/completions", "endpoints/7"} {
		if a := post(t, s, place+path, "{}"); a.status != http.StatusNotFound || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: status %d, body %s", path, a.status, a.body)
		}
	}
}

func TestEndpointScripts(t *testing.T) {
	s := vertextest.New(vertextest.WithDeployed(vertextest.Endpoint{ID: "7", Model: "r1", Reasons: true}), vertextest.WithoutPermission("8"))
	defer s.Close()
	if m := post(t, s, place+"endpoints/7/chat/completions", chatBody("", told("user", "Hi"))).completion(t); m.Choices[0].Message.Reasoning == "" {
		t.Errorf("%+v", m)
	}
	s.ScriptFor("7", vertextest.Text("There."), vertextest.JSON(200, `{"predictions":[[0.5]]}`))
	var got struct{ Predictions []string }
	if a := post(t, s, place+"endpoints/7:predict", `{"instances":[1]}`); json.Unmarshal(a.body, &got) != nil || len(got.Predictions) != 1 || got.Predictions[0] != "There." {
		t.Errorf("%s", a.body)
	}
	if a := post(t, s, place+"endpoints/7:predict", `{"instances":[1]}`); string(a.body) != `{"predictions":[[0.5]]}` {
		t.Errorf("%s", a.body)
	}
	a := post(t, s, place+"endpoints/8/chat/completions", chatBody("", told("user", "Hi")))
	if m := a.completion(t); a.status != 403 || m.Error.Message != "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/p/locations/global/endpoints/8' (or it may not exist)." {
		t.Errorf("%s", a.body)
	}
}
