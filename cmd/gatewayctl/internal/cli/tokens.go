package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
)

const tokensLong = `Asks the platform how many tokens a prompt has, or with --request a whole
request with its tools and media. No answer is made, and nothing is billed.

The number goes to the standard output, the model that counted and the kinds
of media to the standard error.`

const tokensExample = `  gatewayctl tokens "How long is this?"
  gatewayctl tokens -m anthropic.claude-sonnet-5 - < README.md
  gatewayctl tokens --request request.json
  gatewayctl tokens --file report.pdf`

func (a *app) tokensCommand() *cobra.Command {
	w, asJSON := &wish{}, false
	cmd := &cobra.Command{
		Use: "tokens [flags] [PROMPT|-]", Short: "Count the tokens of a prompt or a request", Long: tokensLong, Example: tokensExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt, err := "", error(nil)
			if len(args) > 0 || w.request == "" && len(w.images)+len(w.files) == 0 {
				prompt, err = a.promptOf(args)
			}
			if err != nil {
				return err
			}
			req, err := a.build(cmd, w, prompt)
			if err != nil {
				return err
			}
			if len(req.Messages) == 0 {
				return usage("there is nothing to count: gatewayctl tokens PROMPT, or --request FILE")
			}
			return a.call(cmd.Context(), func(ctx context.Context, l *link) error { return a.countTokens(ctx, l, req, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the count as JSON")
	a.wishFlags(cmd, w)
	a.placeFlags(cmd)
	a.wireFlags(cmd)
	return cmd
}

func (a *app) countTokens(ctx context.Context, l *link, req *gateway.ChatCompletionRequest, asJSON bool) error {
	stop := a.console.Spin(req.Model)
	defer stop()
	n, err := l.Chat.Completions.CountTokens(ctx, req)
	stop()
	if err != nil {
		a.failedMeta(err)
		return err
	}
	if asJSON {
		err = a.writeJSON(struct {
			Model      string           `json:"model"`
			Provider   string           `json:"provider"`
			Tokens     int64            `json:"total_tokens"`
			Characters int64            `json:"billable_characters,omitempty"`
			Modalities map[string]int64 `json:"by_modality,omitempty"`
		}{n.Meta.Model, n.Meta.Provider, n.TotalTokens, n.BillableCharacters, n.ByModality})
	} else {
		err = a.console.Out(fmt.Sprintf("%d\n", n.TotalTokens))
	}
	if !a.quiet {
		parts := []string{n.Meta.Model, n.Meta.Provider}
		for _, kind := range slices.Sorted(maps.Keys(n.ByModality)) {
			parts = append(parts, fmt.Sprintf("%s %d", kind, n.ByModality[kind]))
		}
		a.console.Say(console.Dim, "%s\n", strings.Join(parts, " · "))
		a.remark(&n.Meta)
	}
	return err
}
