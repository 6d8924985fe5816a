// Package demo is what the examples share: the options that lead a client to the
// platform, and a page to print on.
package demo

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// Options lead to Vertex AI, with credentials as gcloud leaves them, when the
// environment has GOOGLE_CLOUD_PROJECT (and GOOGLE_CLOUD_LOCATION, default
// global), and else to an emulator in the process. That one gives the scripted
// replies first, and makes up the rest.
func Options(getenv func(string) string, script ...vertextest.Reply) []gateway.ClientOption {
	region := gateway.WithRegion(cmp.Or(getenv("GOOGLE_CLOUD_LOCATION"), "global"))
	if project := getenv("GOOGLE_CLOUD_PROJECT"); project != "" {
		return []gateway.ClientOption{region, gateway.WithProjectID(project)}
	}
	platform := vertextest.New()
	platform.Script(script...)
	return []gateway.ClientOption{
		region, gateway.WithProjectID("demo"), gateway.WithAccessToken("emulated"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	}
}

// Page is where an example shows what happens.
type Page struct{ out io.Writer }

// NewPage begins a page with a line about the platform.
func NewPage(out io.Writer, getenv func(string) string) Page {
	line := "The platform is an emulator in this process; set GOOGLE_CLOUD_PROJECT for the real one."
	if project := getenv("GOOGLE_CLOUD_PROJECT"); project != "" {
		line = "The platform is Vertex AI, project " + project + "."
	}
	fmt.Fprintln(out, line)
	return Page{out}
}

// Title begins a section.
func (p Page) Title(text string) {
	fmt.Fprintf(p.out, "\n%s\n%s\n", text, strings.Repeat("─", len([]rune(text))))
}

// Say prints a text with its speaker, or what else it is, before it.
func (p Page) Say(who, text string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		fmt.Fprintln(p.out, strings.TrimRight(fmt.Sprintf("%9s  %s", who, line), " "))
		who = ""
	}
}

// Note prints a remark.
func (p Page) Note(format string, args ...any) { p.Say("", "· "+fmt.Sprintf(format, args...)) }

// Warnings prints what the gateway changed or left out.
func (p Page) Warnings(meta gateway.Meta) {
	for _, w := range meta.Warnings {
		p.Say("warning", w.Param+": "+w.Message)
	}
}
