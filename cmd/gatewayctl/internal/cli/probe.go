package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/wiretap"
	"github.com/b650d4bf/gateway/config"
)

// probe finds where models lead: requests are translated and not sent, and the
// model is held against the table of facts by the address it would have gone to.
type probe struct {
	client   *gateway.Client
	line     *deadEnd
	problems []string // of the catalog itself
}

// bare is a catalog's entries alone, without credentials.
type bare struct{ catalog.Catalog }

// Lookup returns the entry with a stand-in for its credentials.
func (b bare) Lookup(slug string) (catalog.Entry, error) {
	e, err := b.Catalog.Lookup(slug)
	return withoutCredentials(e), err
}

// deadEnd keeps where the last request was to go, and sends none.
type deadEnd struct {
	path string
	body []byte
}

// RoundTrip keeps the request.
func (d *deadEnd) RoundTrip(req *http.Request) (*http.Response, error) {
	d.path, d.body = req.URL.Path, nil
	if req.Body != nil {
		var err error
		if d.body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		_ = req.Body.Close() // it was read to its end
	}
	return nil, wiretap.ErrDryRun
}

// newProbe makes a probe for the entries of a catalog, which may be nil.
func newProbe(cat catalog.Catalog) *probe {
	p := &probe{line: &deadEnd{}}
	opts := []gateway.ClientOption{
		gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken(placeholder),
		gateway.WithHTTPClient(&http.Client{Transport: p.line}),
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
	publisher, name := p.line.model()
	if publisher == "" || known(publisher, name) {
		return nil
	}
	text := ref + ": no such model in the table of facts; those of a related one would be used"
	if near := catalog.Near(name, names(publisher)); len(near) > 0 {
		text += " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	return []string{at(path, text)}
}

// publishedModel finds publisher and model in a path of the platform.
var publishedModel = regexp.MustCompile(`/publishers/([^/]+)/models/([^/:]+)`)

// model is the publisher and the model that the last request was for; the
// publisher is empty where any name may be right.
func (d *deadEnd) model() (publisher, name string) {
	if m := publishedModel.FindStringSubmatch(d.path); m != nil {
		return m[1], m[2]
	}
	var body struct {
		Model string `json:"model"`
	}
	if json.Unmarshal(d.body, &body) != nil {
		return "", ""
	}
	switch {
	case strings.Contains(d.path, "/endpoints/openapi/"):
		publisher, name, _ = strings.Cut(body.Model, "/")
		return publisher, name
	case strings.HasSuffix(d.path, "/v1/messages"):
		return "anthropic", body.Model
	}
	return "", ""
}

// known reports whether one of the tables has a row for the model, and not for its
// family alone.
func known(publisher, name string) bool {
	table := catalog.DefaultModels()
	if row, ok := table.Lookup(publisher, name); ok && !row.Family {
		return true
	}
	if row, ok := table.LookupEmbedding(publisher, name); ok && !row.Family {
		return true
	}
	row, ok := table.LookupImage(publisher, name)
	return ok && !row.Family
}

// names are the models of a publisher.
func names(publisher string) []string {
	var out []string
	for _, m := range catalog.DefaultModels().All() {
		if m.Publisher == publisher && !m.Family {
			out = append(out, m.Name)
		}
	}
	return out
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
