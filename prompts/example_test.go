package prompts_test

import (
	"context"
	"fmt"
	"net/http"
	"testing/fstest"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/prompts"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// A program would have the files on disk, or embedded.
func ExampleFromFS() {
	store, err := prompts.FromFS(fstest.MapFS{
		"welcome.json": {Data: []byte(`{"labels": {"production": 1}, "versions": {"1": {"request": {
			"model": "gemini-2.5-flash",
			"messages": [{"role": "user", "content": "Greet {{name}}{{#city}} from {{.}}{{/city}}. {{> tone}}"}]
		}}}}`)},
		"partials/tone.txt": {Data: []byte("Be brief.\n")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	platform := vertextest.New() // stands for the real one
	platform.Script(vertextest.Text("Hello, Ada!"))
	client, err := gateway.New(gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
		gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithPrompts(prompts.New(store)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	req := &gateway.PromptCompletionRequest{ID: "welcome@production", Variables: map[string]any{"name": "Ada"}}
	rendered, err := client.Prompts.Render(context.Background(), req)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rendered.Request.Messages[0].Content.Text())

	answer, err := client.Prompts.Completions.Create(context.Background(), req)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text(), answer.Meta.Prompt, answer.Meta.PromptVersion)
	// Output:
	// Greet Ada. Be brief.
	// Hello, Ada! welcome 1
}

func ExampleLibrary_Render() {
	p, err := prompts.Parse("menu", []byte(`{"versions": {"1": {"request": {"messages": [{"role": "user", "content": "{{#dishes}}\n- {{name}} ({{price}})\n{{/dishes}}\n{{^dishes}}\nNothing today.\n{{/dishes}}"}]}}}}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	store := new(prompts.Memory)
	if err := store.Add(p); err != nil {
		fmt.Println(err)
		return
	}
	library := prompts.New(store)
	for _, variables := range []map[string]any{
		{"dishes": []map[string]any{{"name": "Soup", "price": 4}, {"name": "Pie & peas", "price": 7.5}}},
		{"dishes": nil},
		{"dishes": []map[string]any{{"name": "Soup"}}},
	} {
		out, err := library.Render(context.Background(), "menu", variables)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Print(out.Request.Messages[0].Content.Text())
	}
	// Output:
	// - Soup (4)
	// - Pie & peas (7.5)
	// Nothing today.
	// invalid_request: variables: "price" within "dishes" is missing: the prompt needs a value, which may be null
}
