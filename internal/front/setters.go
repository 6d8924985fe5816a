package front

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/place"
)

const (
	maxWord          = 128 // bytes of an id or a name
	maxMetadataValue = 128 // characters
	maxBetaFeatures  = 512 // bytes
	maxNamespace     = 256 // bytes
	maxTimeout       = math.MaxInt64 / int64(time.Millisecond)
)

func setProvider(o *Overrides, _ http.Header, value string) string {
	name := strings.TrimPrefix(value, "@")
	if !isWord(name, "._-") {
		return "must be a slug or a provider id"
	}
	o.Provider = name
	return ""
}

// setConfig takes an id, or a config as JSON. Its hosts are not for strangers to
// choose.
func setConfig(o *Overrides, _ http.Header, value string) string {
	if !strings.HasPrefix(value, "{") {
		if !isWord(value, "._-") {
			return "must be the id of a config, or a config as JSON"
		}
		o.ConfigID = value
		return ""
	}
	c, err := config.Parse([]byte(value))
	if err != nil {
		return err.Error()
	}
	for at, t := range c.All() {
		if t.CustomHost != "" {
			return strings.TrimPrefix(at+".custom_host", ".") + ": must be set in a config of the catalog: credentials go there"
		}
	}
	o.Config = c
	return ""
}

func setStrict(o *Overrides, _ http.Header, value string) string {
	if problem := checkSwitch(value); problem != "" {
		return problem
	}
	o.Strict = new(value == "true")
	return ""
}

func setProject(o *Overrides, _ http.Header, value string) string {
	if !place.IsProject(value) {
		return `must be a project id or number, such as "my-project" or "example.com:my-project"`
	}
	o.ProjectID = value
	return ""
}

func setRegion(o *Overrides, _ http.Header, value string) string {
	if !place.IsRegion(value) {
		return `must be a location, such as "europe-west4" or "global"`
	}
	o.Region = value
	return ""
}

func setRequestID(o *Overrides, _ http.Header, value string) string {
	if !isWord(value, "._:-") {
		return "must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -"
	}
	o.RequestID = value
	return ""
}

// isWord reports whether s is 1 to maxWord letters, digits and bytes of extra.
func isWord(s, extra string) bool {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte(extra, c) < 0 {
			return false
		}
	}
	return s != "" && len(s) <= maxWord
}

func setTimeout(o *Overrides, _ http.Header, value string) string {
	ms, err := strconv.ParseInt(value, 10, 64)
	if err != nil || ms <= 0 || ms > maxTimeout {
		return "must be a whole number of milliseconds above 0"
	}
	o.Timeout = time.Duration(ms) * time.Millisecond
	return ""
}

func setMetadata(o *Overrides, _ http.Header, value string) string {
	metadata := map[string]string{}
	r := jsonx.NewReader([]byte(value))
	if r.Kind() != jsonx.Object {
		return "must be a JSON object of strings"
	}
	long := false
	for r.Object(); r.NextKey(); {
		key := string(r.Key())
		if r.Kind() != jsonx.String {
			return "must be a JSON object of strings"
		}
		v := r.String()
		long = long || utf8.RuneCountInString(v) > maxMetadataValue
		metadata[key] = v
	}
	switch {
	case r.End() != nil:
		return "must be a JSON object of strings"
	case long:
		return "a value has more than 128 characters"
	}
	o.Metadata = metadata
	return ""
}

func setBeta(o *Overrides, _ http.Header, value string) string {
	if value == "" || len(value) > maxBetaFeatures || headerText(value) != value {
		return "must be a list of feature names"
	}
	if o.Header == nil {
		o.Header = http.Header{}
	}
	o.Header.Add(anthropicBeta, value)
	return ""
}

func setForward(o *Overrides, in http.Header, value string) string {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		if !isFieldName(name) {
			return "must be a list of header names"
		}
		if isKept(strings.ToLower(name)) {
			return strings.ToLower(name) + " can't be forwarded"
		}
		name = http.CanonicalHeaderKey(name)
		values := in[name]
		if len(values) == 0 || name == anthropicBeta { // which goes on as it is
			continue
		}
		if o.Header == nil {
			o.Header = http.Header{}
		}
		o.Header[name] = slices.Clone(values)
	}
	return ""
}

// isFieldName reports whether s is a token of RFC 9110, section 5.6.2.
func isFieldName(s string) bool { return isWord(s, "!#$%&'*+-.^_`|~") }

// isKept reports whether a header, in lower case, never goes on to the
// platform: it holds credentials, is about this connection or this body, or is
// the gateway's own.
func isKept(name string) bool {
	for _, prefix := range []string{"x-gateway-", "content-", "proxy-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		authorization, "cookie", "set-cookie", "x-api-key", "x-goog-api-key",
		"host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect",
		"accept-encoding",                                              // the gateway reads the answer itself
		"anthropic-version",                                            // the platform has its own
		"x-goog-user-project",                                          // says who pays
		"x-http-method-override", "x-http-method", "x-method-override", // make another request of it
		"metadata-flavor", "x-aws-ec2-metadata-token", "x-aws-ec2-metadata-token-ttl-seconds", // open a cloud's metadata service
	}, name)
}

func checkSwitch(value string) string {
	if value != "true" && value != "false" {
		return "must be true or false"
	}
	return ""
}

func setRefresh(o *Overrides, _ http.Header, value string) string {
	o.CacheRefresh = value == "true"
	return checkSwitch(value)
}

func setDebug(o *Overrides, _ http.Header, value string) string {
	o.Debug = new(value == "true")
	return checkSwitch(value)
}

func setNamespace(o *Overrides, _ http.Header, value string) string {
	switch {
	case value == "":
		return "must not be empty"
	case len(value) > maxNamespace:
		return "must be at most 256 bytes"
	}
	o.CacheNamespace = value
	return ""
}

// refuse returns a setter that accepts nothing.
func refuse(problem string) setter {
	return func(*Overrides, http.Header, string) string { return problem }
}
