package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/wiretap"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// maxFile bounds files that are read whole, in bytes.
const maxFile = 64 << 20

// placeholder stands for credentials that are not needed.
const placeholder = "not-needed"

// connection is the flags that say where calls go, and what is shown of them.
type connection struct {
	project, region, token, credentials string
	provider, catalog, config, baseURL  string
	headers, metadata                   []string
	timeout                             time.Duration
	emulator, dryRun                    bool
	explain                             string

	// shown says that requests are what the command is for.
	shown bool
}

// The words of --explain.
const (
	explainRequests = "requests"
	explainFull     = "full"
)

// placeFlags adds the flags that say where calls go.
func (a *app) placeFlags(cmd *cobra.Command) {
	c, f := &a.conn, cmd.Flags()
	f.StringVar(&c.project, "project", "", "project of the platform (default $GOOGLE_CLOUD_PROJECT, then that of the credentials)")
	f.StringVar(&c.region, "region", "", "location of the platform (default $GOOGLE_CLOUD_LOCATION, then global)")
	f.StringVar(&c.token, "token", "", "access token, or @FILE that holds it (default $GATEWAYCTL_TOKEN)")
	f.StringVar(&c.credentials, "credentials", "", "credentials JSON `FILE`: a service account key, federation, or what gcloud wrote")
	f.StringVar(&c.provider, "provider", "", "entry of the catalog, as @SLUG, for models that name none")
	f.StringVar(&c.catalog, "catalog", "", "catalog `FILE`: providers, configs and prompts by name")
	f.StringVar(&c.config, "config", "", "config: a `FILE`, or the id of one in the catalog")
	f.StringVar(&c.baseURL, "base-url", "", "`URL` in place of the platform's own address")
	f.StringArrayVar(&c.headers, "header", nil, "`NAME=VALUE` to send along; may be repeated")
	f.StringArrayVar(&c.metadata, "metadata", nil, "`KEY=VALUE` for configs and logs; may be repeated")
	f.DurationVar(&c.timeout, "timeout", 0, "longest time of a call, such as 30s (default none)")
	f.BoolVar(&c.emulator, "emulator", false, "ask a platform in this process: no network, no credentials")
	files(cmd, "credentials", "catalog", "config")
}

// wireFlags adds the flags that show requests.
func (a *app) wireFlags(cmd *cobra.Command) {
	c, f := &a.conn, cmd.Flags()
	f.StringVar(&c.explain, "explain", "", "show the requests on the standard error; `full` shows the answers too")
	f.Lookup("explain").NoOptDefVal = explainRequests
	f.BoolVar(&c.dryRun, "dry-run", false, "show the request on the standard output and don't send it; needs no credentials")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("explain", cobra.FixedCompletions([]string{explainRequests, explainFull}, cobra.ShellCompDirectiveNoFileComp)))
}

// files lets shells complete the values of flags as files.
func files(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		cobra.CheckErr(cmd.MarkFlagFilename(name))
	}
}

// link is a client, and the tap on its line.
type link struct {
	*gateway.Client
	tap   *wiretap.Tap // nil without --explain and --dry-run
	meter *meter
	stop  func()
}

// Close ends the client and what stands for the platform.
func (l *link) Close() {
	_ = l.Client.Close()
	l.stop()
}

// connect makes the client that the flags ask for. The context it returns ends
// when a dry run has shown its request.
func (a *app) connect(ctx context.Context) (context.Context, *link, error) {
	c := &a.conn
	if c.explain != "" && c.explain != explainRequests && c.explain != explainFull {
		return nil, nil, usage("--explain takes nothing, requests or full")
	}
	l := &link{meter: &meter{}, stop: func() {}}
	opts, err := a.options()
	if err != nil {
		return nil, nil, err
	}
	var base http.RoundTripper
	if c.emulator {
		platform := vertextest.New()
		base, l.stop = platform.Transport(), platform.Close
	}
	if c.explain != "" || c.dryRun {
		ctx, l.tap = a.tap(ctx, base)
		base = l.tap
	}
	if base != nil {
		opts = append(opts, gateway.WithHTTPClient(&http.Client{Transport: base}))
	}
	if l.Client, err = gateway.New(append(opts, gateway.WithObserver(l.meter))...); err != nil {
		l.stop()
		return nil, nil, err
	}
	return ctx, l, nil
}

// tap shows what leaves the client.
func (a *app) tap(ctx context.Context, base http.RoundTripper) (context.Context, *wiretap.Tap) {
	c := &a.conn
	t := &wiretap.Tap{Answers: c.explain == explainFull, Show: func(text string) { a.console.Say(console.Dim, "%s", text) }}
	if c.dryRun || c.shown {
		t.Show = func(text string) { _ = a.console.Outf("%s", text) }
	}
	if c.dryRun {
		ctx, t.Stop = context.WithCancelCause(ctx)
		return ctx, t
	}
	if t.Next = base; base == nil {
		t.Next = http.DefaultTransport
	}
	return ctx, t
}

// dry reports whether err is that of a request that was only shown.
func (l *link) dry(ctx context.Context, err error) bool {
	return l.tap != nil && l.tap.Next == nil && l.tap.Sent() > 0 &&
		(errors.Is(err, wiretap.ErrDryRun) || errors.Is(context.Cause(ctx), wiretap.ErrDryRun))
}

// options are those of the flags.
func (a *app) options() ([]gateway.ClientOption, error) {
	c := &a.conn
	opts := []gateway.ClientOption{gateway.WithRegion(cmp.Or(c.region, a.getenv("GOOGLE_CLOUD_LOCATION"), "global"))}
	project := cmp.Or(c.project, a.getenv("GOOGLE_CLOUD_PROJECT"))
	if project == "" && c.free() {
		project = "my-project"
	}
	if project != "" {
		opts = append(opts, gateway.WithProjectID(project))
	}
	if c.baseURL != "" {
		opts = append(opts, gateway.WithBaseURL(c.baseURL))
	}
	if c.provider != "" {
		opts = append(opts, gateway.WithProvider(c.provider))
	}
	if c.timeout < 0 {
		return nil, usage("--timeout must be positive")
	}
	if c.timeout > 0 {
		opts = append(opts, gateway.WithTimeouts(gateway.Timeouts{Total: c.timeout}))
	}
	for _, add := range []func() ([]gateway.ClientOption, error){a.credentialOptions, a.pairOptions, a.catalogOptions} {
		more, err := add()
		if err != nil {
			return nil, err
		}
		opts = append(opts, more...)
	}
	return opts, nil
}

// free reports whether nothing leaves the process, so that nobody has to be known.
func (c *connection) free() bool { return c.dryRun || c.emulator }

func (a *app) credentialOptions() ([]gateway.ClientOption, error) {
	c := &a.conn
	if c.token != "" && c.credentials != "" {
		return nil, usage("--token and --credentials exclude each other")
	}
	if c.credentials != "" {
		data, err := readFile(c.credentials)
		if err != nil {
			return nil, err
		}
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(data, &head); err != nil || head.Type == "" {
			return nil, fmt.Errorf("%s: no credentials: a JSON object with a type is expected, such as a service account key", c.credentials)
		}
		if c.free() {
			return []gateway.ClientOption{gateway.WithAccessToken(placeholder)}, nil
		}
		return []gateway.ClientOption{gateway.WithCredentialsJSON(gateway.CredentialsType(head.Type), data)}, nil
	}
	token := cmp.Or(c.token, a.getenv("GATEWAYCTL_TOKEN"))
	if path, ok := strings.CutPrefix(token, "@"); ok {
		data, err := readFile(path)
		if err != nil {
			return nil, err
		}
		token = strings.TrimSpace(string(data))
	}
	a.console.Hide(token)
	if token == "" && c.free() {
		token = placeholder
	}
	if token == "" {
		return nil, nil
	}
	return []gateway.ClientOption{gateway.WithAccessToken(token)}, nil
}

// pairOptions are those of --header and --metadata.
func (a *app) pairOptions() ([]gateway.ClientOption, error) {
	var opts []gateway.ClientOption
	for _, pair := range a.conn.headers {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage("--header takes NAME=VALUE")
		}
		opts = append(opts, gateway.WithHeader(name, value))
	}
	metadata := map[string]string{}
	for _, pair := range a.conn.metadata {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, usage("--metadata takes KEY=VALUE")
		}
		metadata[key] = value
	}
	if len(metadata) > 0 {
		opts = append(opts, gateway.WithMetadata(metadata))
	}
	return opts, nil
}

// catalogOptions are those of --catalog and --config.
func (a *app) catalogOptions() ([]gateway.ClientOption, error) {
	c := &a.conn
	var opts []gateway.ClientOption
	if c.catalog != "" {
		cat, err := catalog.Open(c.catalog)
		if err != nil {
			return nil, err
		}
		a.hideEntries(cat)
		if c.free() {
			opts = append(opts, gateway.WithCatalog(open{cat}))
		} else {
			opts = append(opts, gateway.WithCatalog(cat))
		}
	}
	if c.config == "" {
		return opts, nil
	}
	data, err := readFile(c.config)
	switch {
	case err == nil:
		cfg, err := gateway.ParseConfig(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.config, err)
		}
		return append(opts, gateway.WithConfig(cfg)), nil
	case errors.Is(err, fs.ErrNotExist) && c.catalog != "":
		return append(opts, gateway.WithConfigID(c.config)), nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--config %s: no such file; an id needs --catalog FILE, which has the config", c.config)
	}
	return nil, err
}

// hideEntries keeps the secrets of a catalog out of what is written.
func (a *app) hideEntries(cat catalog.Catalog) {
	for _, slug := range cat.Slugs() {
		e, err := cat.Lookup(slug)
		if err != nil {
			continue
		}
		a.console.Hide(e.APIKey.Reveal())
		a.console.Hide(e.AccessToken.Reveal())
		for _, v := range e.Headers {
			a.console.Hide(v.Reveal())
		}
	}
}

// open is a catalog whose entries need no credentials, for calls that nobody
// sends.
type open struct{ *catalog.File }

// Lookup returns the entry with a stand-in for credentials that would have to be
// loaded.
func (o open) Lookup(slug string) (catalog.Entry, error) {
	e, err := o.File.Lookup(slug)
	return withoutCredentials(e), err
}

func withoutCredentials(e catalog.Entry) catalog.Entry {
	if e.ServiceAccountFile != "" || e.ServiceAccountJSON != "" || e.Auth == catalog.AuthDefault {
		e.ServiceAccountFile, e.ServiceAccountJSON, e.Auth, e.AccessToken = "", "", "", placeholder
	}
	return e
}

// readFile reads a file that the user names. The message has the path once.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := limitRead(f, maxFile)
	var pe *fs.PathError
	if err != nil && !errors.As(err, &pe) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return data, err
}
