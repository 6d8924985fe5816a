package dashboard

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/catalog"
)

// promptStore is a catalog that has stored prompts too.
type promptStore interface {
	Prompts() map[string]json.RawMessage
}

// prompt is what of a stored prompt is shown. Its texts are: whoever has a key can
// have them rendered too.
type prompt struct {
	ID          string         `json:"id"`
	Description string         `json:"description,omitempty"`
	Default     int            `json:"default,omitempty"`
	Labels      map[string]int `json:"labels,omitempty"`
	Versions    []version      `json:"versions"` // the newest first
}

type version struct {
	Version     int       `json:"version"`
	Description string    `json:"description,omitempty"`
	Model       string    `json:"model,omitempty"`
	Messages    []message `json:"messages"`
}

type message struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// storedPrompt is a prompt as the catalog has it, as far as it is shown.
type storedPrompt struct {
	Description string         `json:"description"`
	Default     int            `json:"default"`
	Labels      map[string]int `json:"labels"`
	Versions    map[string]struct {
		Description string `json:"description"`
		Request     struct {
			Model    string `json:"model"`
			Messages []struct {
				Role        string          `json:"role"`
				Placeholder string          `json:"placeholder"`
				Content     json.RawMessage `json:"content"`
			} `json:"messages"`
		} `json:"request"`
	} `json:"versions"`
}

// promptsOf lists the prompts of the catalog. One that can't be read is listed by its
// id alone.
func promptsOf(c catalog.Catalog) any {
	list := []prompt{}
	store, _ := c.(promptStore)
	if store != nil {
		raw := store.Prompts()
		for _, id := range slices.Sorted(maps.Keys(raw)) {
			list = append(list, promptOf(id, raw[id]))
		}
	}
	return map[string]any{"data": list}
}

func promptOf(id string, raw json.RawMessage) prompt {
	var stored storedPrompt
	out := prompt{ID: id, Versions: []version{}}
	if json.Unmarshal(raw, &stored) != nil {
		return out
	}
	out.Description, out.Default, out.Labels = stored.Description, stored.Default, stored.Labels
	for name, v := range stored.Versions {
		number, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		next := version{Version: number, Description: v.Description, Model: v.Request.Model, Messages: []message{}}
		for _, m := range v.Request.Messages {
			if m.Placeholder != "" {
				m.Role = "placeholder"
			}
			next.Messages = append(next.Messages, message{m.Role, cmp.Or(m.Placeholder, textOf(m.Content))})
		}
		out.Versions = append(out.Versions, next)
	}
	slices.SortFunc(out.Versions, func(a, b version) int { return b.Version - a.Version })
	return out
}

// textOf returns the text of a content; of parts that are none it names the type.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	for i, p := range parts {
		if i > 0 {
			text += "\n"
		}
		if p.Type != "text" {
			p.Text = "[" + p.Type + "]"
		}
		text += p.Text
	}
	return text
}
