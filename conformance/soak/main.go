// Command soak puts thousands of streams at once through the gateway, over real
// sockets, and checks every piece of every answer, the memory, the goroutines and
// the file descriptors. docs/load.md says what it does and has the last result:
//
//	go -C conformance/soak run . -streams 10000 -for 10m
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

func main() {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(exitCode(runRole(role, os.Stdin, os.Stdout)))
	}
	o := options{Out: os.Stdout, Command: "go -C conformance/soak run . " + strings.Join(os.Args[1:], " ")}
	configs := flag.String("config", configFull+","+configBare, "the `configurations` of the gateway, one run for each: "+configFull+" has cache, logs, analytics and metrics")
	flag.IntVar(&o.Streams, "streams", 10_000, "how many streams are open at a time; half of them through the Go client, half through the HTTP front")
	flag.DurationVar(&o.For, "for", 10*time.Minute, "how long each configuration is under steady load, after a ramp and a warm-up")
	flag.DurationVar(&o.Pace, "pace", 2*time.Second, "the time between two chunks of a stream")
	flag.DurationVar(&o.Every, "every", 10*time.Second, "the time between two samples")
	flag.DurationVar(&o.Ramp, "ramp", 0, "how long the streams take to begin; 0 is a millisecond for each of them, and a third of a minute at least")
	flag.StringVar(&o.Proto, "proto", "mix", "the protocol of connections: "+h1+" is HTTP/1.1, "+h2+" is HTTP/2 over TLS, mix is half of each")
	flag.IntVar(&o.HTTP2Streams, "http2-streams", 100, "how many streams a connection over HTTP/2 takes")
	flag.StringVar(&o.Page, "page", "../../docs/load.md", "the page that gets the result if nothing is wrong; empty is none")
	flag.StringVar(&o.Heap, "heap", "", "a `directory` for profiles of the gateway's heap: the one of the last sample, and the one after the last call; empty is none")
	flag.Uint64Var(&o.Seed, "seed", uint64(time.Now().UnixNano()), "what the calls are made of")
	flag.Parse()
	o.Configs = strings.Split(*configs, ",")
	o.Judged = true
	if o.Ramp == 0 {
		o.Ramp = max(20*time.Second, time.Duration(o.Streams)*time.Millisecond)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(exitCode(run(ctx, o)))
}

// exitCode tells of an error and turns it into the program's end.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "soak:", err)
	return 1
}
