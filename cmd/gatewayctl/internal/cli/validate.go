package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/prompts"
)

// The kinds of files.
const (
	kindCatalog = "catalog"
	kindConfig  = "config"
	kindPrompt  = "prompt"
)

// report is what is said of one file.
type report struct {
	File     string   `json:"file"`
	Kind     string   `json:"kind,omitempty"`
	Holds    string   `json:"holds,omitempty"`
	Errors   []string `json:"errors,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// validation is the flags of validate.
type validation struct {
	kind          string
	targets, json bool
	catalog       string
}

const validateLong = `Checks catalogs, configs and prompts, and tells every mistake with its path
and what to do. What a file is, its members tell; --kind says it where they
do not. A directory is one of prompts, with its partials.

With --check-targets each target of a config, and each model of a prompt, is
led through the translation of a request, which is not sent: a warning tells
of a provider that is not in the catalog, a place that is missing, and a
model that the table of facts does not know. Configs alone take their
catalog from --catalog.

The exit code is 1 when a file has mistakes. Warnings do not count.`

const validateExample = `  gatewayctl validate catalog.json
  gatewayctl validate --check-targets --catalog catalog.json configs/*.json
  gatewayctl validate --kind prompt welcome.json
  gatewayctl validate prompts/`

func (a *app) validateCommand() *cobra.Command {
	v := &validation{}
	cmd := &cobra.Command{
		Use: "validate [flags] FILE...", Short: "Check catalogs, configs and prompts", Long: validateLong, Example: validateExample,
		Args: arguments(1, -1, "name the files to check"),
		RunE: func(_ *cobra.Command, args []string) error { return a.validate(v, args) },
	}
	f := cmd.Flags()
	f.StringVar(&v.kind, "kind", "", "what the files are: catalog, config or prompt (default by their members)")
	f.BoolVar(&v.targets, "check-targets", false, "check where configs and prompts lead")
	f.StringVar(&v.catalog, "catalog", "", "catalog `FILE` that configs and prompts are for")
	f.BoolVar(&v.json, "json", false, "the findings as JSON")
	files(cmd, "catalog")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions([]string{kindCatalog, kindConfig, kindPrompt}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (a *app) validate(v *validation, paths []string) error {
	if v.kind != "" && !slices.Contains([]string{kindCatalog, kindConfig, kindPrompt}, v.kind) {
		return usage("--kind is catalog, config or prompt")
	}
	var shared catalog.Catalog
	if v.catalog != "" {
		cat, err := catalog.Open(v.catalog)
		if err != nil {
			return err
		}
		shared = cat
	}
	reports := make([]*report, 0, len(paths))
	failed := false
	for _, path := range paths {
		r := v.check(path, shared)
		failed = failed || len(r.Errors) > 0
		reports = append(reports, r)
	}
	if err := a.writeReports(reports, v.json); err != nil {
		return err
	}
	if failed {
		return errReported
	}
	return nil
}

func (a *app) writeReports(reports []*report, asJSON bool) error {
	if asJSON {
		return a.writeJSON(reports)
	}
	var errs []error
	line := func(style console.Style, format string, args ...any) {
		errs = append(errs, a.console.OutStyled(style, fmt.Sprintf(format, args...)+"\n"))
	}
	for _, r := range reports {
		for _, text := range r.Errors {
			line(console.Red, "%s: %s", r.File, text)
		}
		for _, text := range r.Warnings {
			line(console.Yellow, "%s: warning: %s", r.File, text)
		}
		if len(r.Errors) == 0 {
			line(console.Green, "%s: ok, %s", r.File, r.Holds)
		}
	}
	return errors.Join(errs...)
}

// check judges one file or directory.
func (v *validation) check(path string, shared catalog.Catalog) *report {
	r := &report{File: path, Kind: v.kind}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		r.Kind = kindPrompt
		r.promptFiles(path, "*.json", v.targets, shared)
		return r
	}
	data, err := readFile(path)
	if err != nil {
		r.Errors = lines(err)
		return r
	}
	if r.Kind == "" {
		if r.Kind, err = kindOf(data); err != nil {
			r.Errors = lines(err)
			return r
		}
	}
	switch r.Kind {
	case kindCatalog:
		r.catalog(data, v.targets)
	case kindConfig:
		r.config(data, v.targets, shared)
	case kindPrompt:
		r.promptFiles(filepath.Dir(path), filepath.Base(path), v.targets, shared)
	}
	return r
}

// lines are the mistakes of an error that has one in each line.
func lines(err error) []string {
	return strings.Split(strings.TrimSpace(err.Error()), "\n")
}

// kindMembers are members that files of one kind alone have at their top.
var kindMembers = []struct {
	kind  string
	names []string
}{
	{kindCatalog, []string{"providers", "configs", "prompts", "partials"}},
	{kindPrompt, []string{"versions", "labels", "default", "description"}},
	{kindConfig, []string{
		"strategy", "targets", "provider", "retry", "cache", "override_params", "default_params", "drop_params", "request_timeout",
		"strict_compliance", "forward_headers", "limits", "cooldown", "hedge", "guards", "region", "project_id", "custom_host",
	}},
}

// kindOf tells what a file is by the members of its top: the kind that most of
// them, or of what resembles them, belong to.
func kindOf(data []byte) (string, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(data), "\ufeff")), &top); err != nil {
		return "", fmt.Errorf("no JSON object: %w", where(data, err))
	}
	best, most := "", 0
	for _, k := range kindMembers {
		n := 0
		for name := range top {
			switch {
			case slices.Contains(k.names, name):
				n += 3
			case len(catalog.Near(name, k.names)) > 0:
				n++
			}
		}
		if n > most {
			best, most = k.kind, n
		}
	}
	if best == "" {
		return "", errors.New("its members are not those of a catalog, a config or a prompt: --kind says what it is meant to be")
	}
	return best, nil
}

// stored is the prompts of a catalog's text, which are judged although the rest of
// it has mistakes.
type stored struct {
	All   map[string]json.RawMessage `json:"prompts"`
	Parts map[string]string          `json:"partials"`
}

// Prompts returns the JSON of each prompt.
func (s *stored) Prompts() map[string]json.RawMessage { return s.All }

// Partials returns the texts of the partials.
func (s *stored) Partials() map[string]string { return s.Parts }

// catalog judges a catalog with its configs and prompts.
func (r *report) catalog(data []byte, targets bool) {
	cat, err := catalog.Parse(data)
	if err != nil {
		r.Errors = lines(err)
	}
	var s stored
	if json.Unmarshal(data, &s) == nil { // else the catalog's own mistakes say it
		if _, err := prompts.FromCatalog(&s); err != nil {
			r.Errors = append(r.Errors, lines(err)...)
		}
	}
	if len(r.Errors) > 0 {
		return
	}
	r.Holds = fmt.Sprintf("a catalog: %s, %s, %s", count(len(cat.Slugs()), "provider"), count(len(cat.Configs()), "config"), count(len(s.All), "prompt"))
	if !targets {
		return
	}
	p := newProbe(cat)
	defer p.close()
	r.Warnings = append(r.Warnings, p.problems...)
	for _, id := range cat.Configs() {
		if one, err := cat.Config(id); err == nil {
			r.Warnings = append(r.Warnings, p.config("configs."+id, one)...)
		}
	}
	for id, raw := range cat.Prompts() {
		r.Warnings = append(r.Warnings, p.prompt("prompts."+id+".", raw)...)
	}
	slices.Sort(r.Warnings)
}

// config judges a config alone.
func (r *report) config(data []byte, targets bool, shared catalog.Catalog) {
	one, err := config.Parse(data)
	if err != nil {
		r.Errors = lines(err)
		return
	}
	n := 0
	for _, t := range one.All() {
		if len(t.Targets) == 0 {
			n++
		}
	}
	r.Holds = "a config: " + count(n, "target")
	if targets {
		p := newProbe(shared)
		defer p.close()
		r.Warnings = append(p.problems, p.config("", one)...)
	}
}

// promptFiles judges the prompts of a directory that match a pattern, with its
// partials.
func (r *report) promptFiles(dir, pattern string, targets bool, shared catalog.Catalog) {
	files := os.DirFS(dir)
	if !strings.HasPrefix(pattern, "*") {
		pattern = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(pattern)
	}
	store, err := prompts.FromFS(files, pattern)
	if err != nil {
		r.Errors = lines(err)
		for i, text := range r.Errors {
			r.Errors[i] = strings.TrimPrefix(text, filepath.Base(r.File)+": ") // the report has the file already
		}
		return
	}
	r.Holds = count(len(store.IDs()), "prompt")
	if !targets {
		return
	}
	p := newProbe(shared)
	defer p.close()
	r.Warnings = append(r.Warnings, p.problems...)
	found, _ := filepath.Glob(filepath.Join(dir, pattern)) // FromFS took the pattern already
	for _, name := range found {
		data, err := readFile(name)
		if err == nil {
			r.Warnings = append(r.Warnings, p.prompt("", data)...)
		}
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
