package catalog

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted is what a non-empty secret shows of itself.
const redacted = "[redacted]"

// Secret is a string that doesn't print: every fmt verb, JSON, text encodings and
// slog show "[redacted]", or nothing when it is empty. [Secret.Reveal] returns the
// value.
type Secret string

// Reveal returns the value itself.
func (s Secret) Reveal() string { return string(s) }

// String returns "[redacted]", or "" for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString is [Secret.String] in quotes.
func (s Secret) GoString() string { return `"` + s.String() + `"` }

// Format writes the redacted form whatever the verb, since %d and %x would
// otherwise reach the bytes.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	_, _ = io.WriteString(f, text)
}

// MarshalText returns the redacted form.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON returns the redacted form as a JSON string.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(s.GoString()), nil }

// LogValue returns the redacted form.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
