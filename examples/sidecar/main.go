// Sidecar serves the OpenAI schema to the other processes of a machine or pod:
//
//	sidecar -catalog catalog.json -keys-file keys.txt
//
// Any OpenAI client then works with the base URL http://127.0.0.1:8787/v1 and
// models such as "@slug/gemini-2.5-flash". The header x-gateway-config names a
// config of the catalog, and its prompts are at /v1/prompts/{id}/completions. GET
// /healthz answers without a key. To look around with no catalog and no credentials,
//
//	go -C examples run ./sidecar -emulator
//
// The last 10,000 calls are kept in memory with what they cost at list prices, or in the
// file of -log-file, which outlives the process; prompts and answers are not, unless
// -log-content asks for them. /dashboard/ shows them in a browser, /v1/logs and
// /v1/analytics as JSON. Each key sees its own calls; with -admin-keys-file the keys
// there see all of them, and the others none.
//
// SIGHUP reads the catalog again; a faulty one is reported and the old one stays
// in use. SIGINT and SIGTERM let requests under way finish, for 10 seconds at
// most.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/prompts"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	shutdownTimeout   = 10 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], func(net.Addr) {})
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		slog.Error("sidecar failed", "error", err)
		os.Exit(1)
	}
}

// flags are the command line.
type flags struct {
	listen, catalog, keysFile, adminKeysFile, logFile string
	records                                           int
	content, emulator                                 bool
}

func parseFlags(args []string) (flags, error) {
	var f flags
	set := flag.NewFlagSet("sidecar", flag.ContinueOnError)
	set.StringVar(&f.listen, "listen", "127.0.0.1:8787", "`address` to listen on")
	set.StringVar(&f.catalog, "catalog", "", "catalog `file` with the providers; required")
	set.BoolVar(&f.emulator, "emulator", false, "ask an emulator of the platform in this process, to look around without credentials; takes the place of -catalog")
	set.StringVar(&f.keysFile, "keys-file", "", "`file` with the API keys, one a line; without it no key is needed")
	set.StringVar(&f.adminKeysFile, "admin-keys-file", "", "`file` with the keys that see the log and the dashboard, one a line; without it each API key sees its own calls")
	set.StringVar(&f.logFile, "log-file", "", "`file` of JSON Lines to keep calls in, in place of memory")
	set.IntVar(&f.records, "log-records", 10_000, "how many calls to keep in memory; 0 keeps none")
	set.BoolVar(&f.content, "log-content", false, "keep prompts and answers too")
	if err := set.Parse(args); err != nil {
		return flags{}, err
	}
	switch {
	case set.NArg() > 0:
		return flags{}, fmt.Errorf("unexpected argument %q", set.Arg(0))
	case f.emulator && f.catalog != "":
		return flags{}, errors.New("-emulator takes the place of -catalog: give one of them")
	case f.emulator:
	case f.catalog == "":
		return flags{}, errors.New("-catalog is required: a file such as {\"providers\":{\"vx\":{\"provider\":\"vertex-ai\",\"project_id\":\"my-project\",\"region\":\"global\",\"auth\":\"application_default\"}}}")
	}
	return f, nil
}

// run serves until ctx ends. It calls ready once connections are accepted.
func run(ctx context.Context, args []string, ready func(net.Addr)) (err error) {
	f, err := parseFlags(args)
	if err != nil {
		return err
	}
	keys, err := readKeys(f.keysFile)
	if err != nil {
		return err
	}
	admins, err := readKeys(f.adminKeysFile)
	if err != nil {
		return err
	}
	from, err := openPlatform(&f)
	if err != nil {
		return err
	}
	client, end, err := newClient(&f, append(from.options, gateway.WithObserver(callLog{}))...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()

	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return err
	}
	slog.Info("listening", "address", l.Addr().String(), "keys", len(keys), "providers", from.names())
	warnOfOpenDoors(keys, admins)
	ready(l.Addr())
	return serve(ctx, l, routes(client, keys, admins), from.reread, reload)
}

// warnOfOpenDoors says what is open to everyone.
func warnOfOpenDoors(keys, admins []string) {
	if len(keys) > 0 {
		return
	}
	slog.Warn("no API keys are set: whoever reaches the address can use the providers")
	if len(admins) == 0 {
		slog.Warn("no admin keys are set: whoever reaches the address sees the log and the dashboard")
	}
}

// routes adds the health check and the dashboard to the handler of the client.
func routes(client *gateway.Client, keys, admins []string) http.Handler {
	var opts []gateway.HandlerOption
	if len(keys) > 0 {
		opts = append(opts, gateway.WithAPIKeys(keys...))
	}
	if len(admins) > 0 {
		opts = append(opts, gateway.WithAdminKeys(admins...))
	}
	mux := http.NewServeMux()
	mux.Handle("/", client.Handler(opts...))
	addDashboard(mux, client, opts...)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"ok"}`)
	})
	return mux
}

// platform is where calls go.
type platform struct {
	options []gateway.ClientOption
	catalog *catalog.File // nil for the emulator
	prompts *promptStore
}

// openPlatform reads the catalog, or makes an emulator.
func openPlatform(f *flags) (*platform, error) {
	if f.emulator {
		return &platform{options: []gateway.ClientOption{
			gateway.WithProjectID("emulated"), gateway.WithRegion("global"), gateway.WithAccessToken("emulated"),
			gateway.WithHTTPClient(&http.Client{Transport: vertextest.New().Transport()}),
		}}, nil
	}
	providers, err := catalog.Open(f.catalog)
	if err != nil {
		return nil, err
	}
	store := new(promptStore)
	if err := store.read(providers); err != nil {
		return nil, err
	}
	return &platform{
		options: []gateway.ClientOption{gateway.WithCatalog(providers), gateway.WithPrompts(prompts.New(store))},
		catalog: providers, prompts: store,
	}, nil
}

func (p *platform) names() []string {
	if p.catalog == nil {
		return []string{"an emulator"}
	}
	return p.catalog.Slugs()
}

// promptStore has the prompts of the catalog as it was read last.
type promptStore struct {
	now atomic.Pointer[prompts.Memory]
}

// Prompt returns the prompt of that id.
func (s *promptStore) Prompt(ctx context.Context, id string) (*prompts.Prompt, error) {
	return s.now.Load().Prompt(ctx, id)
}

func (s *promptStore) read(providers *catalog.File) error {
	next, err := prompts.FromCatalog(providers)
	if err == nil {
		s.now.Store(next)
	}
	return err
}

// reread loads the catalog again.
func (p *platform) reread() {
	if p.catalog == nil {
		slog.Info("there is no catalog to read again")
		return
	}
	if err := p.catalog.Reload(); err != nil {
		slog.Error("the catalog was not reloaded, the old one stays", "error", err)
		return
	}
	if err := p.prompts.read(p.catalog); err != nil {
		slog.Error("the prompts were not reloaded, the old ones stay", "error", err)
	}
	slog.Info("catalog reloaded", "providers", p.catalog.Slugs())
}

// serve accepts connections until ctx ends and calls reread at each signal. It
// sets no write timeout, since that would cut long streams.
func serve(ctx context.Context, l net.Listener, h http.Handler, reread func(), reload <-chan os.Signal) error {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	for {
		select {
		case <-reload:
			reread()
		case err := <-ended:
			return err
		case <-ctx.Done():
			err := shutdown(ctx, srv)
			if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
				err = errors.Join(err, served)
			}
			return err
		}
	}
}

// shutdown waits for the requests under way, and cuts those that take too long.
func shutdown(ctx context.Context, srv *http.Server) error {
	slog.Info("shutting down", "timeout", shutdownTimeout)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := srv.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		slog.Warn("requests were cut by the shutdown")
		return srv.Close()
	}
	return err
}

// readKeys reads the API keys, one a line. Blank lines and lines that begin with
// # are passed over. A file without any key is an error: it would let everyone
// in.
func readKeys(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var keys []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if key := strings.TrimSpace(lines.Text()); key != "" && key[0] != '#' {
			keys = append(keys, key)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s: no keys in the file", path)
	}
	return keys, nil
}
