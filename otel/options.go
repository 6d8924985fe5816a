package gatewayotel

import (
	"os"
	"slices"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/b650d4bf/gateway/providers"
)

// Scope is the name of the instrumentation in what it makes.
const Scope = "github.com/b650d4bf/gateway/otel"

// Options are the settings of an [Observer]. The zero value is the default.
type Options struct {
	// TracerProvider and MeterProvider make the spans and the metrics; default are
	// the global ones, as they are when New is called or are set later.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// Conventions says which names are used; default is what the environment says,
	// and else the latest. See [ConventionsFromEnv].
	Conventions Conventions
	// NoAttempts leaves out the spans of single requests. The calls' own spans still
	// count them.
	NoAttempts bool
	// ProviderName returns the gen_ai.provider.name of a provider id and slug of the
	// catalog, or "" for the default, which is by the id alone. It is of use where a
	// server that speaks the OpenAI schema is a vendor that the conventions know.
	ProviderName func(provider, slug string) string
	// ConversationKey is the key of metadata that holds the id of the conversation;
	// default is none.
	ConversationKey string
	// MetadataKeys are the keys of metadata that become attributes of the span, each
	// as gateway.metadata.KEY; default is none.
	MetadataKeys []string
	// Content adds the prompt, the answer and the tools of chats to their spans. They
	// are likely to hold what is personal or secret. Bytes of media are left out, and
	// so is what belongs to calls that said debug=false.
	Content bool
	// ToolSchemas adds the descriptions and parameters of tools to the content, which
	// has their names alone otherwise, since they are large.
	ToolSchemas bool
	// MaxContent bounds each attribute with content, in bytes of JSON; default is
	// 16384. Long texts are cut, then the oldest messages left out, and the span says
	// so by gateway.content.truncated.
	MaxContent int
	// Redact returns what stands in for a text: of a message, of thoughts, of the
	// arguments or the result of a tool, of a description, or a URL. It is called before
	// texts are cut; default keeps them. It must be safe for concurrent use.
	Redact func(text string) string
}

const defaultMaxContent = 16384

// Conventions says which names are used.
type Conventions string

const (
	// ConventionsLatest are the names of the repository that the conventions have of
	// their own. Source: https://github.com/open-telemetry/semantic-conventions-genai
	ConventionsLatest Conventions = "latest"
	// ConventionsV141 are the names of v1.41.0, the last version before that. Source:
	// https://github.com/open-telemetry/semantic-conventions/blob/v1.41.0/docs/gen-ai/README.md
	ConventionsV141 Conventions = "v1.41"
	// ConventionsBoth are both, for the time in which dashboards change over.
	ConventionsBoth Conventions = "both"
)

// envOptIn is the variable that chooses among conventions.
//
// Source: https://github.com/open-telemetry/semantic-conventions/blob/v1.41.0/docs/gen-ai/README.md
const envOptIn = "OTEL_SEMCONV_STABILITY_OPT_IN"

// optIns are the values of the variable that are about generative AI. The first is
// the conventions' own; for older names they have none, since an instrumentation
// that is older than a change goes on as it was. The others are of this package,
// after the pattern of database/dup.
var optIns = []struct {
	value string
	means Conventions
}{
	{"gen_ai_latest_experimental", ConventionsLatest},
	{"gen_ai/dup", ConventionsBoth},
	{"gen_ai/v1.41", ConventionsV141},
}

// ConventionsFromEnv reads OTEL_SEMCONV_STABILITY_OPT_IN, a list with commas. Of
// several values that are about generative AI the first of this order wins:
// gen_ai_latest_experimental, gen_ai/dup for both, gen_ai/v1.41 for the former
// names. Without any it is [ConventionsLatest].
func ConventionsFromEnv() Conventions { return conventionsOf(os.Getenv(envOptIn)) }

func conventionsOf(list string) Conventions {
	for _, o := range optIns {
		for v := range strings.SplitSeq(list, ",") {
			if strings.TrimSpace(v) == o.value {
				return o.means
			}
		}
	}
	return ConventionsLatest
}

func (c Conventions) latest() bool { return c != ConventionsV141 }
func (c Conventions) former() bool { return c != ConventionsLatest }

// complete fills in the defaults, and finds what is wrong.
func (o *Options) complete() error {
	switch o.Conventions {
	case "":
		o.Conventions = ConventionsFromEnv()
	case ConventionsLatest, ConventionsV141, ConventionsBoth:
	default:
		return wrong("conventions", "unknown: use ConventionsLatest, ConventionsV141 or ConventionsBoth")
	}
	if o.MaxContent < 0 {
		return wrong("max_content", "must not be negative: leave it 0 for the default, or set Content to false for none")
	}
	if o.MaxContent == 0 {
		o.MaxContent = defaultMaxContent
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if slices.Contains(o.MetadataKeys, "") {
		return wrong("metadata_keys", "a key must not be empty")
	}
	return nil
}

func wrong(param, message string) error {
	return &providers.Error{Code: providers.ErrInvalidConfig, Param: param, Message: message}
}
