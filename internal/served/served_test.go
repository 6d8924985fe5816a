package served

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheLatestServerIsNoted(t *testing.T) {
	tests := []struct {
		name string
		urls []string
		want string
	}{
		{"no request", nil, ""},
		{"https", []string{"https://example.com/v1"}, "example.com:443"},
		{"http", []string{"http://example.com"}, "example.com:80"},
		{"a port of its own", []string{"http://127.0.0.1:8080/x"}, "127.0.0.1:8080"},
		{"an IPv6 address", []string{"https://[::1]/x"}, "[::1]:443"},
		{"the latest of several", []string{"https://a.example", "https://b.example"}, "b.example:443"},
		{"no host", []string{"/path"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, note := With(t.Context())
			for _, s := range tt.urls {
				u, err := url.Parse(s)
				if err != nil {
					t.Fatal(err)
				}
				Tell(ctx, u)
			}
			if diff := cmp.Diff(tt.want, note.Server()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheInnerNoteCounts(t *testing.T) {
	outer, first := With(t.Context())
	inner, second := With(outer)
	Tell(inner, &url.URL{Scheme: "https", Host: "inner.example"})
	if diff := cmp.Diff([]string{"", "inner.example:443"}, []string{first.Server(), second.Server()}); diff != "" {
		t.Error(diff)
	}
}

func TestANoteIsNestedOnlyWhereSomebodyWantsToKnow(t *testing.T) {
	if _, note := Within(t.Context()); note != nil {
		t.Error("there is a note that nobody wanted")
	}
	outer, _ := With(t.Context())
	inner, note := Within(outer)
	Tell(inner, &url.URL{Scheme: "https", Host: "inner.example"})
	if diff := cmp.Diff("inner.example:443", note.Server()); diff != "" {
		t.Error(diff)
	}
}

func TestNobodyNeedsToKnow(t *testing.T) {
	u := &url.URL{Scheme: "https", Host: "example.com"}
	if n := testing.AllocsPerRun(100, func() { Tell(t.Context(), u) }); n != 0 {
		t.Errorf("%v allocations without a note", n)
	}
	if got := (*Note)(nil).Server(); got != "" {
		t.Errorf("no note has the server %q", got)
	}
}
