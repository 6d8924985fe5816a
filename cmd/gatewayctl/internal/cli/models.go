package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
)

// modelFacts is one element of GET /v1/models.
type modelFacts struct {
	ID              string   `json:"id"`
	OwnedBy         string   `json:"owned_by"`
	Type            string   `json:"type"`
	ContextWindow   int      `json:"context_window"`
	MaxOutputTokens int      `json:"max_output_tokens"`
	MaxInputTokens  int      `json:"max_input_tokens"`
	Inputs          []string `json:"input_modalities"`
	Outputs         []string `json:"output_modalities"`
	Tools           *bool    `json:"supports_tools"`
	Dimensions      int      `json:"dimensions"`
	Thinking        *struct {
		Min     int      `json:"min_budget_tokens"`
		Max     int      `json:"max_budget_tokens"`
		Efforts []string `json:"efforts"`
	} `json:"thinking"`
}

const modelsLong = `Lists the models that the gateway has facts of: by their bare names those of
the platform, and by @SLUG/MODEL those of each entry of the catalog. Nothing
is asked of the platform. Every word of the filter must be in a model's name,
owner or type; a model that is not listed can be asked for all the same.`

const modelsExample = `  gatewayctl models
  gatewayctl models embedding
  gatewayctl models claude sonnet
  gatewayctl models --catalog catalog.json @eu
  gatewayctl models --json gemini | jq '.[].id'`

func (a *app) modelsCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "models [flags] [FILTER...]", Short: "List models with what they can do", Long: modelsLong, Example: modelsExample,
		RunE: func(cmd *cobra.Command, args []string) error { return a.models(cmd.Context(), args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the list as JSON, with all that is known")
	cmd.Flags().StringVar(&a.conn.catalog, "catalog", "", "catalog `FILE` whose entries have models too")
	files(cmd, "catalog")
	return cmd
}

func (a *app) models(ctx context.Context, filter []string, asJSON bool) error {
	all, err := a.listModels(ctx)
	if err != nil {
		return err
	}
	raws, rows := []json.RawMessage{}, []modelFacts{}
	for _, raw := range all {
		var m modelFacts
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		if m.fits(filter) {
			raws, rows = append(raws, raw), append(rows, m)
		}
	}
	if asJSON {
		return a.writeJSON(raws)
	}
	if len(rows) == 0 {
		a.console.Say(console.Yellow, "no model of the table fits; it can be asked for all the same\n")
		return errReported
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "MODEL\tOWNER\tTYPE\tIN\tOUT\tREADS\tGIVES\tTOOLS\tTHINKING") // a builder does not fail
	for i := range rows {
		_, _ = fmt.Fprintln(w, rows[i].row())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	head, rest, _ := strings.Cut(text.String(), "\n")
	return errors.Join(a.console.OutStyled(console.Bold, strings.TrimRight(head, " ")+"\n"), a.console.Out(trimLines(rest)))
}

// trimLines takes the padding of the last column away.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// listModels returns the elements of GET /v1/models of a client with the flags.
func (a *app) listModels(ctx context.Context) ([]json.RawMessage, error) {
	a.conn.dryRun = true // nothing is asked, so nobody has to be known
	_, l, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://gateway/v1/models", http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := l.RoundTripper().RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var list struct {
		Data []json.RawMessage `json:"data"`
	}
	err = json.Unmarshal(data, &list)
	return list.Data, err
}

// fits reports whether every word is in a text of the model.
func (m *modelFacts) fits(words []string) bool {
	text := strings.ToLower(m.ID + " " + m.OwnedBy + " " + m.Type)
	for _, word := range words {
		if !strings.Contains(text, strings.ToLower(word)) {
			return false
		}
	}
	return true
}

func (m *modelFacts) row() string {
	in, out := size(max(m.ContextWindow, m.MaxInputTokens)), size(m.MaxOutputTokens)
	if m.Dimensions > 0 {
		out = strconv.Itoa(m.Dimensions) + " dims"
	}
	tools := ""
	if m.Tools != nil {
		tools = map[bool]string{true: "yes", false: "no"}[*m.Tools]
	}
	return strings.Join([]string{m.ID, m.OwnedBy, m.Type, in, out, strings.Join(m.Inputs, ","), strings.Join(m.Outputs, ","), tools, m.thinking()}, "\t")
}

func (m *modelFacts) thinking() string {
	t := m.Thinking
	switch {
	case t == nil:
		return ""
	case len(t.Efforts) > 0:
		return strings.Join(t.Efforts, ",")
	case t.Max > 0:
		return fmt.Sprintf("%d-%d", t.Min, t.Max)
	}
	return "yes"
}

// size is a number of tokens, shortened.
func size(n int) string {
	switch {
	case n == 0:
		return ""
	case n%1_000_000 == 0:
		return strconv.Itoa(n/1_000_000) + "M"
	case n%1000 == 0:
		return strconv.Itoa(n/1000) + "k"
	case n%1024 == 0:
		return strconv.Itoa(n/1024) + "Ki"
	}
	return strconv.Itoa(n)
}

// completeModels lets shells complete --model from the table.
func (a *app) completeModels(cmd *cobra.Command) {
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("model", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		all, err := a.listModels(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var out []string
		for _, raw := range all {
			var m modelFacts
			if json.Unmarshal(raw, &m) == nil && strings.HasPrefix(m.ID, begun) {
				out = append(out, m.ID)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}))
}
