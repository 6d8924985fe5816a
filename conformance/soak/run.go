package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"
)

// options say what a run does.
type options struct {
	Streams                int
	For, Pace, Every, Ramp time.Duration
	Configs                []string
	Proto, Page, Command   string
	Seed                   uint64
	// Heap is a directory that gets profiles of the gateway's heap; empty is none.
	Heap string
	// HTTP2Streams is how many streams a connection over HTTP/2 takes.
	HTTP2Streams int
	Out          io.Writer
	// Judged holds the memory, the number of streams and the processor against their
	// bounds too, which a short run on a busy machine can't keep.
	Judged bool
}

// measurement is what came of the load of one configuration, or of none of them.
type measurement struct {
	Config string
	// Front and Go are the loads through the HTTP front and through the Go client; for
	// the calibration Front is that of the plain client.
	Front, Go tally
	// Load, Emulator and Gateway are the samples of the processes under steady load.
	Load, Emulator, Gateway []sample
	Closed                  closedGateway
	// Before and Idle are the emulator before the first call and after the last one.
	Before, Idle sample
	// Took is how long the load was steady.
	Took time.Duration
}

// runRole is what the other processes do.
func runRole(role string, in io.Reader, out io.Writer) error {
	switch role {
	case roleEmulator:
		return obey(in, out, new(emulatorProcess).do)
	case roleGateway:
		return obey(in, out, new(gatewayProcess).do)
	}
	return fmt.Errorf("there is no role %q", role)
}

// openEmulator is what the platform's process is told first.
type openEmulator struct {
	Cert         certificate
	HTTP2Streams int
}

// emulatorProcess is the platform.
type emulatorProcess struct {
	emulator emulator
	servers  *servers
}

func (e *emulatorProcess) do(c command) (any, error) {
	switch c.Do {
	case "open":
		var o openEmulator
		if err := json.Unmarshal(c.Arg, &o); err != nil {
			return nil, err
		}
		var err error
		if e.servers, err = serve(&e.emulator, o.Cert, o.HTTP2Streams); err != nil {
			return nil, err
		}
		return e.servers.urls, nil
	case "sample":
		s, err := takeSample()
		s.Emulator = e.emulator.counts()
		return s, err
	case "close":
		return nil, e.servers.close()
	}
	return nil, errors.New("it can't do that")
}

// loadOrder is what the gateway's process is told of its own half of the load.
type loadOrder struct {
	Mix     mix
	Streams int
	Ramp    time.Duration
	Seed    uint64
}

func (g *gatewayProcess) do(c command) (any, error) {
	switch c.Do {
	case "open":
		var o openGateway
		if err := json.Unmarshal(c.Arg, &o); err != nil {
			return nil, err
		}
		return g.open(&o)
	case "load":
		var o loadOrder
		if err := json.Unmarshal(c.Arg, &o); err != nil {
			return nil, err
		}
		g.load = startLoad(context.Background(), &viaClient{g.client}, o.Mix, o.Streams, o.Ramp, o.Seed)
		return nil, nil //nolint:nilnil // there is nothing to say
	case "steady":
		g.load.steady.Store(true)
		return nil, nil //nolint:nilnil // there is nothing to say
	case "sample":
		return g.sample()
	case "drain":
		g.load.steady.Store(false)
		if !g.load.drain() {
			return nil, errors.New("calls did not end")
		}
		return g.load.tally(), nil
	case "close":
		return g.close()
	}
	return nil, errors.New("it can't do that")
}

// soak is a run.
type soak struct {
	options
	dir      string
	cert     certificate
	emulator *process
	urls     map[string]string
}

// run does all of it.
func run(ctx context.Context, o options) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	s := &soak{options: o}
	if s.dir, err = os.MkdirTemp("", "soak"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	if s.cert, err = writeCertificate(s.dir); err != nil {
		return err
	}
	if s.emulator, err = startProcess(ctx, roleEmulator); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.emulator.end()) }()
	if err := s.emulator.tell("open", openEmulator{s.cert, s.HTTP2Streams}, &s.urls); err != nil {
		return err
	}
	plain, err := s.calibrate(ctx)
	if err != nil {
		return fmt.Errorf("calibration: %w", err)
	}
	all := []*measurement{plain}
	for _, config := range o.Configs {
		m, err := s.measure(ctx, config)
		if err != nil {
			return fmt.Errorf("%s: %w", config, err)
		}
		all = append(all, m)
	}
	if err := s.emulator.tell("close", nil, nil); err != nil {
		return err
	}
	return o.report(all)
}

// needed is how many file descriptors the hungriest process takes: a connection for
// each stream over HTTP/1.1 and one for many over HTTP/2, on both sides of the gateway.
// Connections that idle between two calls come on top.
func (o *options) needed() int {
	const besides = 1000
	over1 := map[string]int{h1: o.Streams, h2: 0}
	n, ok := over1[o.Proto]
	if !ok {
		n = o.Streams / 2
	}
	return n + n/2 + 2*o.Streams/o.HTTP2Streams + besides
}

// check looks for what can't work.
func (o *options) check() error {
	limit, err := fileLimit()
	switch {
	case err != nil:
		return err
	case o.Streams < 2 || o.HTTP2Streams < 1 || o.For <= 0 || o.Pace < time.Millisecond || o.Every <= 0:
		return errors.New("-streams must be at least 2, -pace a millisecond, and -for, -every and -http2-streams positive")
	case o.needed() > limit:
		return fmt.Errorf("%d streams with -proto %s need %d file descriptors in one process, and its limit is %d: raise it with ulimit -n %d, or use -proto %s",
			o.Streams, o.Proto, o.needed(), limit, o.needed(), h2)
	case o.Proto != "mix" && o.Proto != h1 && o.Proto != h2:
		return fmt.Errorf("-proto %s: it must be mix, %s or %s", o.Proto, h1, h2)
	}
	for _, c := range o.Configs {
		if c != configFull && c != configBare {
			return fmt.Errorf("-config %s: it must be %s or %s", c, configFull, configBare)
		}
	}
	return nil
}

// calibrate puts the same load on the platform with no gateway between.
func (s *soak) calibrate(ctx context.Context) (*measurement, error) {
	client, err := newHTTPClient(s.cert)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	m := &measurement{Config: "none"}
	if err := s.emulator.tell("sample", nil, &m.Before); err != nil {
		return nil, err
	}
	l := startLoad(ctx, &viaNothing{client, s.urls}, mix{Pace: s.Pace, Proto: s.Proto, Plain: true}, s.Streams, s.Ramp, s.Seed)
	if err := s.steady(ctx, m, l, min(s.For, max(s.For/5, time.Minute)), nil); err != nil {
		return nil, errors.Join(err, endLoad(l))
	}
	if err := endLoad(l); err != nil {
		return nil, err
	}
	m.Front = l.tally()
	return m, s.idle(ctx, m)
}

// endLoad drains a load.
func endLoad(l *load) error {
	l.steady.Store(false)
	if !l.drain() {
		return errors.New("calls did not end")
	}
	return nil
}

// measure puts the load through a gateway.
func (s *soak) measure(ctx context.Context, config string) (m *measurement, err error) {
	dir, err := os.MkdirTemp(s.dir, config)
	if err != nil {
		return nil, err
	}
	// The gateway's own transport trusts what the system does.
	p, err := startProcess(ctx, roleGateway, "SSL_CERT_FILE="+s.cert.Cert)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	key := fmt.Sprintf("key-%x", rand.Uint64())
	var front map[string]string
	if err := p.tell("open", openGateway{config, s.urls, s.cert, dir, key, s.HTTP2Streams, s.Heap, !s.Judged}, &front); err != nil {
		return nil, err
	}
	client, err := newHTTPClient(s.cert)
	if err != nil {
		return nil, err
	}
	m = &measurement{Config: config}
	if err := s.emulator.tell("sample", nil, &m.Before); err != nil {
		return nil, err
	}
	calls, half := mix{Pace: s.Pace, Proto: s.Proto}, s.Streams/2
	if err := p.tell("load", loadOrder{calls, half, s.Ramp, s.Seed + 1}, nil); err != nil {
		return nil, err
	}
	l := startLoad(ctx, &viaFront{client, front, key, s.Proto}, calls, s.Streams-half, s.Ramp, s.Seed+2)
	err = s.steady(ctx, m, l, s.For, p)
	// Both halves end together: one alone would have the machine for itself.
	drained := make(chan error, 1)
	go func() { drained <- endLoad(l) }()
	err = errors.Join(err, p.tell("drain", nil, &m.Go), <-drained)
	m.Front = l.tally()
	client.CloseIdleConnections()
	if err != nil {
		return m, errors.Join(err, m.failures())
	}
	if err := s.idle(ctx, m); err != nil {
		return m, err
	}
	return m, p.tell("close", nil, &m.Closed)
}

// steady waits until the load is steady, and then takes samples.
func (s *soak) steady(ctx context.Context, m *measurement, l *load, d time.Duration, gateway *process) error {
	// After the ramp the first streams go on for a while with the lengths that they
	// began with.
	if !sleep(ctx, s.Ramp+maxPieces*s.Pace) {
		return ctx.Err()
	}
	l.steady.Store(true)
	if gateway != nil {
		if err := gateway.tell("steady", nil, nil); err != nil {
			return err
		}
	}
	begin := time.Now()
	for {
		if err := s.sample(m, l, gateway); err != nil {
			return err
		}
		m.Took = time.Since(begin)
		if m.Took >= d {
			return nil
		}
		if !sleep(ctx, min(s.Every, d-m.Took)) {
			return ctx.Err()
		}
	}
}

// sample looks at all processes.
func (s *soak) sample(m *measurement, l *load, gateway *process) error {
	own, err := takeSample()
	if err != nil {
		return err
	}
	own.Open = l.open.Load()
	m.Load = append(m.Load, own)
	var e sample
	if err := s.emulator.tell("sample", nil, &e); err != nil {
		return err
	}
	m.Emulator = append(m.Emulator, e)
	if gateway != nil {
		var g sample
		if err := gateway.tell("sample", nil, &g); err != nil {
			return err
		}
		m.Gateway = append(m.Gateway, g)
	}
	return nil
}

// idle waits until the platform has no call left: those that their callers went away
// from end there a little later.
func (s *soak) idle(ctx context.Context, m *measurement) error {
	for range 300 {
		if err := s.emulator.tell("sample", nil, &m.Idle); err != nil {
			return err
		}
		if m.Idle.Emulator.Open == 0 {
			return nil
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
	return nil
}

// failures are those of both loads.
func (m *measurement) failures() error {
	var errs []error
	for _, t := range []*tally{&m.Front, &m.Go} {
		for _, f := range t.Failures {
			errs = append(errs, errors.New(f))
		}
	}
	return errors.Join(errs...)
}
