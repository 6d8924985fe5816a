package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/wiretap"
	"github.com/b650d4bf/gateway/config"
)

// probe finds where models lead: requests are translated and not sent.
type probe struct {
	client   *gateway.Client
	seen     *lastCall
	problems []string // of the catalog itself
}

// bare is a catalog's entries alone, without credentials.
type bare struct{ catalog.Catalog }

// Lookup returns the entry with a stand-in for its credentials.
func (b bare) Lookup(slug string) (catalog.Entry, error) {
	e, err := b.Catalog.Lookup(slug)
	return withoutCredentials(e), err
}

// lastCall keeps the record of the call that ended last.
type lastCall struct{ record gateway.Record }

// CallStart keeps nothing.
func (l *lastCall) CallStart(ctx context.Context, _ gateway.Call) context.Context { return ctx }

// CallEnd keeps the record.
func (l *lastCall) CallEnd(_ context.Context, r gateway.Record) { l.record = r }

// newProbe makes a probe for the entries of a catalog, which may be nil.
func newProbe(cat catalog.Catalog) *probe {
	p := &probe{seen: &lastCall{}}
	opts := []gateway.ClientOption{
		gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken(placeholder), gateway.WithObserver(p.seen),
		gateway.WithHTTPClient(&http.Client{Transport: &wiretap.Tap{Show: func(string) {}}}),
	}
	if cat != nil {
		opts = append(opts, gateway.WithCatalog(bare{cat}))
	}
	client, err := gateway.New(opts...)
	if err != nil {
		p.problems = lines(err)
		return p
	}
	p.client = client
	return p
}

func (p *probe) close() {
	if p.client != nil {
		_ = p.client.Close()
	}
}

// config probes the targets of a config. Those that leave the model to the request
// are probed with the default one where they name a provider of the catalog.
func (p *probe) config(path string, one *config.Config) []string {
	root := one.Root()
	return p.target(path, &root, config.Settings{})
}

func (p *probe) target(path string, t *config.Target, above config.Settings) []string {
	settings := t.Settings.Under(above)
	var out []string
	for i := range t.Targets {
		out = append(out, p.target(strings.TrimPrefix(fmt.Sprintf("%s.targets[%d]", path, i), "."), &t.Targets[i], settings)...)
	}
	if len(t.Targets) > 0 {
		return out
	}
	model, err := modelOf(&settings)
	if err != nil {
		return []string{at(path, err.Error())}
	}
	if model == "" {
		// Which model the provider will be asked for is up to requests. The slug alone
		// can be checked.
		return p.slug(path, settings.Provider)
	}
	var opts []gateway.RequestOption
	if settings.Provider != "" {
		opts = append(opts, gateway.WithProvider(settings.Provider))
	}
	return p.model(path, model, opts...)
}

// slug checks that a provider is there.
func (p *probe) slug(path, provider string) []string {
	if provider == "" || p.client == nil {
		return nil
	}
	err := p.ask(defaultModel, gateway.WithProvider(provider))
	if errors.Is(err, gateway.ErrProviderNotFound) {
		return []string{at(path, err.Error())}
	}
	return nil
}

// modelOf is the model that a target asks for whatever the request says.
func modelOf(s *config.Settings) (string, error) {
	const others = "?"
	body, err := config.Apply([]byte(`{"model":"`+others+`"}`), s)
	if err != nil {
		return "", err
	}
	var req struct {
		Model string `json:"model"`
	}
	if err := json.Unmarshal(body, &req); err != nil || req.Model == others {
		return "", err
	}
	return req.Model, nil
}

// model probes one model reference.
func (p *probe) model(path, ref string, opts ...gateway.RequestOption) []string {
	if p.client == nil {
		return nil
	}
	if err := p.ask(ref, opts...); err != nil && !errors.Is(err, wiretap.ErrDryRun) {
		return []string{at(path, err.Error())}
	}
	for _, w := range p.seen.record.Meta.Warnings {
		if w.Code == gateway.WarnUnknownModel {
			return []string{at(path, ref+": "+w.Message)}
		}
	}
	return nil
}

// ask has a request translated. As what a model is used is not known: one that
// embeds has another translation.
func (p *probe) ask(ref string, opts ...gateway.RequestOption) error {
	ctx := context.Background()
	if _, known := catalog.DefaultModels().LookupEmbedding("", bareName(ref)); known {
		_, err := p.client.Embeddings.Create(ctx, &gateway.EmbeddingRequest{Model: ref, Input: gateway.EmbeddingText("probe")}, opts...)
		return err
	}
	_, err := p.client.Chat.Completions.Create(ctx, &gateway.ChatCompletionRequest{
		Model: ref, Messages: []gateway.Message{gateway.UserMessage("probe")},
	}, opts...)
	return err
}

// bareName is a model reference without slug and publisher.
func bareName(ref string) string {
	if i := strings.LastIndexByte(ref, '/'); i >= 0 {
		ref = ref[i+1:]
	}
	return strings.TrimPrefix(ref, "google.")
}

// prompt probes the models of a prompt's versions.
func (p *probe) prompt(path string, raw []byte) []string {
	var file struct {
		Versions map[string]struct {
			Request struct {
				Model string `json:"model"`
			} `json:"request"`
		} `json:"versions"`
	}
	if json.Unmarshal(raw, &file) != nil {
		return nil // that it is well-formed was checked before
	}
	var out []string
	for _, number := range slices.Sorted(maps.Keys(file.Versions)) {
		if model := file.Versions[number].Request.Model; model != "" {
			out = append(out, p.model(path+"versions."+number+".request.model", model)...)
		}
	}
	return out
}

func at(path, text string) string {
	if path == "" {
		return text
	}
	return path + ": " + text
}
