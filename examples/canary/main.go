// Canary gives a new model a tenth of the calls, the same users each time, and all
// calls of the testers.
//
//	go -C examples run ./canary
//
// The platform is an emulator in the same process. With GOOGLE_CLOUD_PROJECT set,
// the calls go to the real one (GOOGLE_CLOUD_LOCATION, default global).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/examples/internal/demo"
)

// A config has the testers go to the new model, and everyone else by weight. Who is
// drawn depends on the user alone: every process draws the same.
const config = `{
	"strategy": {
		"mode": "conditional",
		"conditions": [{"query": {"metadata.group": {"$eq": "testers"}}, "then": "new"}],
		"default": "everyone"
	},
	"targets": [
		{"name": "new", "override_params": {"model": "gemini-3-flash-preview"}},
		{
			"name": "everyone",
			"strategy": {"mode": "loadbalance", "sticky": {"enabled": true, "hash_fields": ["metadata._user"]}},
			"targets": [
				{"name": "stable", "weight": 0.9, "override_params": {"model": "gemini-2.5-flash"}},
				{"name": "canary", "weight": 0.1, "override_params": {"model": "gemini-3-flash-preview"}}
			]
		}
	]
}`

// users is how many people ask.
const users = 200

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "canary:", err)
		stop()
		os.Exit(1)
	}
}

// run shows everything on out.
func run(ctx context.Context, out io.Writer, getenv func(string) string) error {
	where, err := gateway.ParseConfig([]byte(config))
	if err != nil {
		return err
	}
	client, err := gateway.New(append(demo.Options(getenv), gateway.WithConfig(where))...)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	page := demo.NewPage(out, getenv)

	page.Title(fmt.Sprintf("1  %d users, each of them twice", users))
	shares, moved := map[string]int{}, 0
	for i := range users {
		user := fmt.Sprintf("user-%d", i)
		one, err := asked(ctx, client, user)
		if err != nil {
			return err
		}
		other, err := asked(ctx, client, user)
		if err != nil {
			return err
		}
		if one != other {
			moved++
		}
		shares[one]++
	}
	for _, name := range []string{"stable", "canary"} {
		page.Say(name, fmt.Sprintf("%d users", shares[name]))
	}
	page.Note("%d users were sent to both", moved)

	page.Title("2  A tester")
	name, err := asked(ctx, client, "user-0", gateway.WithMetadata(map[string]string{"group": "testers"}))
	if err != nil {
		return err
	}
	page.Say("target", name)
	return nil
}

// asked makes a call for a user and returns the target that answered.
func asked(ctx context.Context, client *gateway.Client, user string, opts ...gateway.RequestOption) (string, error) {
	answer, err := client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
		Model: "gemini-2.5-flash", User: user, Messages: []gateway.Message{gateway.UserMessage("Say hello.")},
	}, opts...)
	if err != nil {
		return "", err
	}
	return answer.Meta.Attempts[0].Target, nil
}
