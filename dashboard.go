package gateway

import (
	"net/http"

	"github.com/b650d4bf/gateway/internal/dashboard"
	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/internal/logsapi"
)

// Dashboard serves a page that shows what the client does: calls as they come in,
// money, errors, latency, what the response cache saved, prompts and the catalog
// without its secrets. Put it below a path of its own:
//
//	mux.Handle("/dashboard/", http.StripPrefix("/dashboard", client.Dashboard(gateway.WithAPIKeys(key))))
//
// Calls are there for clients with [WithLog], whose log has a store. The page's files
// are open to everyone and say nothing. What it shows needs one of the keys of
// [WithAPIKeys], which the page asks for; without that option whoever reaches the
// address sees all. Other options have no meaning here. The page asks nobody but this
// handler.
func (c *Client) Dashboard(opts ...HandlerOption) http.Handler {
	var cfg front.Config
	for _, o := range opts {
		o.applyHandler(&cfg)
	}
	keys := front.NewKeyCheck(cfg)
	page := dashboard.Config{
		Admit: func(r *http.Request) (dashboard.Visitor, error) {
			_, err := keys.Admit(r.Header)
			return dashboard.Visitor{}, err
		},
		Catalog: c.settings.Catalog,
		Models:  front.New(front.Config{}, backend{c}),
	}
	if log := c.Logs(); log != nil && log.Store() != nil {
		records := logsapi.New(log.Store(), nil)
		page.Records = func(w http.ResponseWriter, r *http.Request, path string, _ dashboard.Visitor) {
			ask := *r
			url := *r.URL
			url.Path, ask.URL = path, &url
			records.ServeHTTP(w, &ask)
		}
	}
	return dashboard.New(page)
}
