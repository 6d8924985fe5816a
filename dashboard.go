package gateway

import (
	"net/http"

	"github.com/b650d4bf/gateway/internal/dashboard"
	"github.com/b650d4bf/gateway/internal/front"
)

// Dashboard serves a page that shows what the client does: calls as they come in,
// money, errors, latency, what the response cache saved, prompts and the catalog
// without its secrets. Put it below a path of its own:
//
//	mux.Handle("/dashboard/", http.StripPrefix("/dashboard", client.Dashboard(gateway.WithAPIKeys(key))))
//
// Calls are there for clients with [WithLog], whose log has a store. The page's files
// are open to everyone and say nothing. What it shows needs a key, which the page asks
// for: one of [WithAdminKeys], or without that option one of [WithAPIKeys], which sees
// the calls that came with it. Without both, whoever reaches the address sees all.
// Other options have no meaning here. The page asks nobody but this handler.
func (c *Client) Dashboard(opts ...HandlerOption) http.Handler {
	var cfg front.Config
	for _, o := range opts {
		o.applyHandler(&cfg)
	}
	keys, own := front.NewKeyCheck(cfg), backend{c}
	store := c.logStore()
	return front.Timed(dashboard.New(dashboard.Config{
		Admit: func(r *http.Request) (*string, error) { return keys.Admit(r.Header) },
		Records: func(r *http.Request, path string, keyID *string) (*dashboard.Answer, error) {
			a, err := own.Logs(r, path, keyID)
			return (*dashboard.Answer)(a), err
		},
		Logs: store != nil, Reports: c.reportSource(store) != nil,
		Catalog: c.settings.Catalog, Models: front.New(front.Config{}, own),
	}))
}
