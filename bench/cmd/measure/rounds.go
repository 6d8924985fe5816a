package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/bench/internal/plan"
)

// chosen is a group with those of its libraries that are run.
type chosen struct {
	plan.Group

	whole bool // nothing was left out
}

// selected returns what -only and -long choose.
func selected(o *options) []chosen {
	var out []chosen
	for _, g := range plan.Groups() {
		c := chosen{Group: g, whole: true}
		c.Rows = nil
		for _, row := range g.Rows {
			if row.Long && !o.long {
				continue
			}
			var libs []string
			for _, lib := range row.Libs {
				if o.only.MatchString(g.Name + "/" + row.Name + "/" + lib) {
					libs = append(libs, lib)
				}
			}
			c.whole = c.whole && len(libs) == len(row.Libs)
			if row.Libs = libs; len(libs) > 0 {
				c.Rows = append(c.Rows, row)
			}
		}
		if len(c.Rows) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// machine runs benchmarks.
type machine struct {
	dir     string // for what is left at the end
	options *options
	output  io.Writer
}

func (m *machine) binary() string { return filepath.Join(m.dir, "bench.test") }

// build builds the test binary.
func (m *machine) build(ctx context.Context) error {
	if _, err := fmt.Fprintln(m.output, "building"); err != nil {
		return err
	}
	_, err := command(ctx, nil, "go", "test", "-c", "-o", m.binary(), ".")
	return err
}

// measure makes the rounds of a group and returns the results.
func (m *machine) measure(ctx context.Context, g *chosen) ([]byte, error) {
	var raw bytes.Buffer
	for round := range m.options.count {
		for _, row := range g.Rows {
			for i := range row.Libs {
				lib := row.Libs[(i+round)%len(row.Libs)]
				lines, err := m.turn(ctx, &g.Group, &row, lib)
				if err != nil {
					return nil, err
				}
				if raw.Len() > 0 {
					lines = onlyBenchmarks(lines)
				}
				raw.Write(lines)
			}
			if _, err := fmt.Fprintf(m.output, "round %d of %d: %s, %s\n", round+1, m.options.count, g.Name, row.Name); err != nil {
				return nil, err
			}
		}
	}
	return raw.Bytes(), nil
}

// turn runs one benchmark once.
func (m *machine) turn(ctx context.Context, g *plan.Group, row *plan.Row, lib string) ([]byte, error) {
	cpu := "1"
	if row.Parallel {
		cpu = fmt.Sprint(runtime.NumCPU())
	}
	exactly := func(s string) string { return "^" + regexp.QuoteMeta(s) + "$" }
	pattern := strings.Join([]string{exactly(g.Bench), exactly(g.Key + "=" + row.Name), exactly("lib=" + lib)}, "/")
	env := os.Environ()
	if row.Long {
		env = append(env, "GATEWAY_BENCH_MILLION=1")
	}
	out, err := command(ctx, env, m.binary(), "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", m.options.benchtime,
		"-test.cpu", cpu, "-test.count", "1", "-test.benchmem", "-test.timeout", "1h")
	if err != nil {
		return nil, err
	}
	lines := benchmarkFormat(out)
	if bytes.Count(onlyBenchmarks(lines), []byte("\n")) != 1 {
		return nil, fmt.Errorf("%s gave no result, or more than one: %s", pattern, out)
	}
	return lines, nil
}

// benchmarkFormat keeps the results and what they say of the machine: a library may
// print what it likes.
func benchmarkFormat(out []byte) []byte {
	var kept bytes.Buffer
	for line := range bytes.Lines(out) {
		for _, prefix := range []string{"goos: ", "goarch: ", "pkg: ", "cpu: ", "Benchmark"} {
			if bytes.HasPrefix(line, []byte(prefix)) && (prefix != "Benchmark" || bytes.Contains(line, []byte("ns/op"))) {
				kept.Write(line)
			}
		}
	}
	return kept.Bytes()
}

// onlyBenchmarks keeps the results alone.
func onlyBenchmarks(lines []byte) []byte {
	var kept bytes.Buffer
	for line := range bytes.Lines(lines) {
		if bytes.HasPrefix(line, []byte("Benchmark")) {
			kept.Write(line)
		}
	}
	return kept.Bytes()
}

// benchstat shows the results as benchstat has them.
func (m *machine) benchstat(ctx context.Context, group string, raw []byte) error {
	file := filepath.Join(m.dir, group+".txt")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return err
	}
	out, err := command(ctx, nil, "go", "tool", "benchstat", "-col", "/lib", file)
	if err != nil {
		return err
	}
	_, err = m.output.Write(out)
	return err
}

// about says where and when the results are from.
func (m *machine) about(ctx context.Context) (about, error) {
	commit, err := command(ctx, nil, "git", "rev-parse", "--short=12", "HEAD")
	if err != nil {
		commit = []byte("unknown")
	}
	changed, err := command(ctx, nil, "git", "status", "--porcelain", "--untracked-files=no", "--", "..", ":!../docs")
	if err == nil && len(bytes.TrimSpace(changed)) > 0 {
		commit = append(bytes.TrimSpace(commit), " with changes"...)
	}
	version, err := command(ctx, nil, "go", "env", "GOVERSION")
	if err != nil {
		return about{}, err
	}
	line := []string{"go -C bench run ./cmd/measure"}
	for _, arg := range m.options.args {
		line = append(line, quoted(arg))
	}
	return about{
		date: time.Now().UTC().Format("2 January 2006"), commit: string(bytes.TrimSpace(commit)),
		version: strings.TrimPrefix(string(bytes.TrimSpace(version)), "go"), system: runtime.GOOS + "/" + runtime.GOARCH,
		processors: runtime.NumCPU(), model: processor("/proc/cpuinfo"), command: strings.Join(line, " "), count: m.options.count, benchtime: m.options.benchtime,
	}, nil
}

// quoted is an argument as a shell takes it.
func quoted(arg string) string {
	if strings.ContainsAny(arg, "^()|*$&;<>?[]{}~#! \"\\") {
		return "'" + arg + "'"
	}
	return arg
}

// processor is the model's name, where the system has such a file.
func processor(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return "unknown processor"
	}
	defer f.Close() //nolint:errcheck // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// command runs a program and returns what it printed; of one that fails, the error
// has what it said.
func command(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...) // #nosec G204 -- the test binary, go and git
	cmd.Env = env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, said.Bytes())
	}
	return out, nil
}
