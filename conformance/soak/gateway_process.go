package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/analytics"
	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/logs"
	gatewayotel "github.com/b650d4bf/gateway/otel"
	"github.com/b650d4bf/gateway/prices"
)

// The configurations of the gateway.
const (
	// configFull has a response cache, a log in memory and in a file, prices, live
	// analytics and metrics.
	configFull = "full"
	// configBare has none of that.
	configBare = "bare"
)

// What the stores of configFull keep. It is less than their defaults, so that they
// are full, and drop what is old, before the memory is judged.
const (
	keptAnswers    = 4 << 20 // bytes
	keptRecords    = 2_000
	keptSignatures = 2_000
	logFileBytes   = 16 << 20
	logFiles       = 2
)

// openGateway is what the gateway's process is told first.
type openGateway struct {
	Config   string
	Emulator map[string]string // its addresses, by protocol
	Cert     certificate
	Dir, Key string
	// HTTP2Streams is how many streams a connection to the front takes.
	HTTP2Streams int
	// Heap is the directory for the profiles of the heap, empty for none.
	Heap string
	// Patient waits for connections longer than the default, for a machine that has
	// other things to do.
	Patient bool
}

// closedGateway is what is left after the end.
type closedGateway struct {
	// The numbers before the client was made, after the last call with everything open,
	// and after all was closed.
	Base, Drained, Closed sample
	// Recorded, Dropped and Failed are the log's, Reported the requests of the live
	// analytics, Measured those of the metrics; 0 without them.
	Recorded, Dropped, Failed, Reported, Measured int64
	Cache                                         gateway.CacheStats
}

// gatewayProcess is the service that has the gateway in it.
type gatewayProcess struct {
	heap    string // where profiles of the heap go, and how their names begin; empty for none
	base    sample
	client  *gateway.Client
	front   *servers
	load    *load
	store   *cache.Memory
	log     *logs.Log
	file    *logs.File
	live    *analytics.Live
	reader  *metric.ManualReader
	meters  *metric.MeterProvider
	started time.Time
}

// warmUp makes what a process makes once: the poller of the runtime.
func warmUp() error {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	return l.Close()
}

func (g *gatewayProcess) open(o *openGateway) (map[string]string, error) {
	if err := warmUp(); err != nil {
		return nil, err
	}
	var err error
	if g.base, err = takeSample(); err != nil {
		return nil, err
	}
	g.started = time.Now()
	if o.Heap != "" {
		g.heap = filepath.Join(o.Heap, o.Config)
	}
	var entries []catalog.Entry
	for proto, url := range o.Emulator {
		entries = append(entries, catalog.Entry{
			Slug: proto, Provider: "vertex-ai", ProjectID: "soak", Region: "us-central1", BaseURL: url, AccessToken: "token",
		})
	}
	entriesOf, err := catalog.New(entries...)
	if err != nil {
		return nil, err
	}
	options := []gateway.ClientOption{gateway.WithCatalog(entriesOf)}
	if o.Patient {
		options = append(options, gateway.WithTimeouts(gateway.Timeouts{Connect: patience}))
	}
	if o.Config == configFull {
		more, err := g.full(o.Dir)
		if err != nil {
			return nil, err
		}
		options = append(options, more...)
	}
	if g.client, err = gateway.New(options...); err != nil {
		return nil, err
	}
	if g.front, err = serve(g.client.Handler(gateway.WithAPIKeys(o.Key)), o.Cert, o.HTTP2Streams); err != nil {
		return nil, err
	}
	return g.front.urls, nil
}

// full makes what a service in production has around its client.
func (g *gatewayProcess) full(dir string) ([]gateway.ClientOption, error) {
	var err error
	if g.store, err = cache.NewMemory(cache.MemoryConfig{MaxBytes: keptAnswers}); err != nil {
		return nil, err
	}
	if g.file, err = logs.OpenFile(filepath.Join(dir, "calls.jsonl"), logs.FileOptions{MaxBytes: logFileBytes, MaxFiles: logFiles}); err != nil {
		return nil, err
	}
	if g.live, err = analytics.NewLive(analytics.Options{}); err != nil {
		return nil, err
	}
	g.log, err = logs.New(logs.Options{Store: logs.NewMemory(keptRecords), Sinks: []logs.Sink{g.file, g.live}, Prices: prices.Default()})
	if err != nil {
		return nil, err
	}
	g.reader = metric.NewManualReader()
	g.meters = metric.NewMeterProvider(metric.WithReader(g.reader))
	observer, err := gatewayotel.New(gatewayotel.Options{MeterProvider: g.meters})
	if err != nil {
		return nil, err
	}
	return []gateway.ClientOption{
		gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}), gateway.WithCacheStore(g.store),
		gateway.WithLog(g.log), gateway.WithAnalytics(g.live), gateway.WithObserver(observer),
		gateway.WithSignatureMemory(gateway.SignatureMemory{Entries: keptSignatures}),
	}, nil
}

// measured collects the metrics and returns how many calls they have: those that a
// model answered, and those that the cache did.
func (g *gatewayProcess) measured() (int64, error) {
	var all metricdata.ResourceMetrics
	if err := g.reader.Collect(context.Background(), &all); err != nil {
		return 0, err
	}
	var count int64
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != "gen_ai.client.inference.duration" && m.Name != "gateway.cache.duration" {
				continue
			}
			if d, ok := m.Data.(metricdata.Histogram[float64]); ok {
				for _, p := range d.DataPoints {
					count += int64(p.Count)
				}
			}
		}
	}
	return count, nil
}

// sample looks at the process; the metrics are collected as by a scrape.
func (g *gatewayProcess) sample() (sample, error) {
	if g.reader != nil {
		if _, err := g.measured(); err != nil {
			return sample{}, err
		}
	}
	s, err := takeSample()
	if g.load != nil {
		s.Open = g.load.open.Load()
	}
	return s, errors.Join(err, g.profile("steady"))
}

// profile writes the profile of the heap, if it is wanted, over the one of the same
// name.
func (g *gatewayProcess) profile(name string) error {
	if g.heap == "" {
		return nil
	}
	return writeHeap(g.heap + "-" + name + ".pprof")
}

// close ends everything and says what is left.
func (g *gatewayProcess) close() (*closedGateway, error) {
	out := &closedGateway{Base: g.base, Cache: g.client.ResponseCache.Stats()}
	var err error
	if out.Drained, err = takeSample(); err != nil {
		return nil, err
	}
	if err := g.profile("drained"); err != nil {
		return nil, err
	}
	g.load = nil
	errs := []error{g.front.close(), g.client.Close()}
	if g.log != nil {
		errs = append(errs, g.records(out), g.log.Close(context.Background()), g.file.Close(), g.meters.Shutdown(context.Background()), g.store.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	*g = gatewayProcess{base: g.base}
	// What is closed ends at once or soon: connections with the other side's answer.
	for range 300 {
		if out.Closed, err = takeSample(); err != nil {
			return nil, err
		}
		if out.Closed.Goroutines <= g.base.Goroutines && out.Closed.FDs <= g.base.FDs {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if out.Closed.Goroutines > g.base.Goroutines {
		stacks := make([]byte, 8<<10)
		return out, fmt.Errorf("goroutines are left: %s", stacks[:runtime.Stack(stacks, true)])
	}
	return out, nil
}

// records reads what the log, the analytics and the metrics counted.
func (g *gatewayProcess) records(out *closedGateway) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := g.log.Flush(ctx); err != nil {
		return err
	}
	stats := g.log.Stats()
	out.Recorded, out.Dropped, out.Failed = stats.Written, stats.Dropped, stats.Failed
	minute := time.Minute
	report, err := g.live.Report(ctx, analytics.Query{From: g.started.Truncate(minute), To: time.Now().Add(minute).Truncate(minute)})
	if err != nil {
		return err
	}
	out.Reported = report.Total.Requests
	out.Measured, err = g.measured()
	return err
}
