package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway"
)

// moderated asks a moderation service, which is a function here. It says in which
// category a text is, "" for none.
func moderated(name string, classify func(ctx context.Context, text string) (category string, err error)) gateway.Guard {
	judge := func(ctx context.Context, text string) error {
		category, err := classify(ctx, text)
		if err == nil && category != "" {
			err = errors.New(category)
		}
		return err // when the service is down too: what it has not judged does not pass
	}
	return gateway.Guard{
		Name: name,
		Request: func(ctx context.Context, req *gateway.ChatCompletionRequest) (*gateway.ChatCompletionRequest, error) {
			for i := range req.Messages {
				if err := judge(ctx, req.Messages[i].Content.Text()); err != nil {
					return nil, err
				}
			}
			return req, nil
		},
		Answer: func(ctx context.Context, _ *gateway.ChatCompletionRequest, answer *gateway.ChatCompletion) (*gateway.ChatCompletion, error) {
			return answer, judge(ctx, answer.Text())
		},
	}
}

// A moderation service sees every request before it is sent and every answer
// before it is shown.
func ExampleWithGuards() {
	client, platform := emulated(gateway.WithGuards(moderated("moderation", func(_ context.Context, text string) (string, error) {
		if strings.Contains(text, "lock") {
			return "burglary", nil
		}
		return "", nil
	})))
	defer client.Close()

	for _, question := range []string{"Hello!", "How do I pick a lock?"} {
		answer, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
			Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage(question)},
		})
		if errors.Is(err, gateway.ErrGuardDenied) {
			fmt.Println(err)
			fmt.Println("because of", errors.Unwrap(err))
			continue
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(answer.Text())
	}
	fmt.Println("sent:", len(platform.Requests()))
	// Output:
	// Hello! How can I help you today?
	// guard_denied: the guard moderation denied the request
	// because of burglary
	// sent: 1
}

// A config says by name which guards judge what its targets are sent. This one
// takes out what must not leave the house.
func ExampleWithNamedGuards() {
	redact := gateway.Guard{
		Name: "redact",
		Request: func(_ context.Context, req *gateway.ChatCompletionRequest) (*gateway.ChatCompletionRequest, error) {
			own := *req // the one given must not be changed
			own.Messages = slices.Clone(req.Messages)
			for i := range own.Messages {
				m := &own.Messages[i]
				if m.Content.Parts() == nil {
					m.Content = gateway.UserMessage(strings.ReplaceAll(m.Content.Text(), "Ada", "NAME")).Content
				}
			}
			return &own, nil
		},
	}
	config, err := gateway.ParseConfig([]byte(`{"guards": [{"name": "redact"}], "override_params": {"model": "gemini-2.5-flash"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	client, platform := emulated(gateway.WithNamedGuards(redact), gateway.WithConfig(config))
	defer client.Close()

	answer, err := client.Chat.Completions.Create(context.Background(), &gateway.ChatCompletionRequest{
		Model: "any", Messages: []gateway.Message{gateway.UserMessage("Write to Ada.")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(platform.Requests()[0].Body))
	for _, v := range answer.Meta.Guards {
		fmt.Println(v.Name, v.Stage, v.Mode, v.Denied, v.Changed)
	}
	// Output:
	// {"contents":[{"role":"user","parts":[{"text":"Write to NAME."}]}]}
	// redact request deny false true
}
