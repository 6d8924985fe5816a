package growth

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Origin says where and how figures were taken.
type Origin struct {
	Date                             time.Time
	Machine, GoVersion, Commit, Args string
}

// program is what measures, as one command from the repository's root.
const program = "go -C bench run ./cmd/growth"

// origin asks the machine, and git in the working directory.
func origin(ctx context.Context, args []string) Origin {
	machine := fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, after, ok := strings.Cut(string(text), "model name"); ok {
			name, _, _ := strings.Cut(after, "\n")
			machine = fmt.Sprintf("%s × %s, %s/%s", count(float64(runtime.GOMAXPROCS(0))), strings.Trim(name, "\t :"), runtime.GOOS, runtime.GOARCH)
		}
	}
	o := Origin{Date: time.Now().UTC(), Machine: machine, GoVersion: runtime.Version(), Commit: "unknown", Args: strings.Join(args, " ")}
	if out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=10", "HEAD").Output(); err == nil {
		o.Commit = strings.TrimSpace(string(out))
	}
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--", ":/*.go").Output()
	if err == nil && len(changed) > 0 {
		o.Commit += " with changes that are not committed"
	}
	return o
}

// section is what the page says of a series.
func (r *Result) section(o Origin, run *Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "![%s](growth/%s.svg)\n\n", r.Title, r.Name)
	command := strings.TrimSpace(program + " " + o.Args)
	fmt.Fprintf(&b, "%s, %s, commit %s, %s: `%s`; the median of %d samples.", o.Date.Format(time.DateOnly), o.GoVersion, o.Commit, o.Machine, command, run.Samples)
	if run.Quick {
		b.WriteString(" **A run of test size: its figures mean nothing.**")
	}
	b.WriteString("\n\n| figure | of | exponent | rise | must be | |\n|---|---|---|---|---|---|\n")
	for _, v := range r.Judge() {
		state := "ok"
		switch {
		case !v.OK:
			state = "**not ok**"
		case v.Rule == Rule{}:
			state = ""
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", v.Metric, v.Line, ratio(v.Exponent), ratio(v.Rise), v.Rule, state)
	}
	fmt.Fprintf(&b, "\n<details><summary>All figures</summary>\n\n| | %s |", r.Axis)
	for _, m := range r.Metrics {
		fmt.Fprintf(&b, " %s |", m.Name)
	}
	fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("---:|", len(r.Metrics)+1))
	for _, l := range r.Lines {
		for _, row := range l.Rows {
			fmt.Fprintf(&b, "| %s | %s |", l.Name, count(float64(row.Size)))
			for j, v := range row.Values {
				fmt.Fprintf(&b, " %s |", figure(v, r.Metrics[j].Unit))
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// replaceSection puts text between the marks of a section.
func replaceSection(page, name, text string) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	before, after, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(after, end)
	if !ok || !closed {
		return "", fmt.Errorf("growth: the page has no section between %q and %q", strings.TrimSpace(begin), end)
	}
	return before + begin + text + end + after, nil
}
