package batch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/batch"
	"github.com/b650d4bf/gateway/providers"
)

func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		uri  string
		want batch.Place
		ok   bool
	}{
		{"gs://bucket", batch.Place{Bucket: "bucket"}, true},
		{"gs://bucket/", batch.Place{Bucket: "bucket"}, true},
		{"gs://my.bucket-1/a/B_c/", batch.Place{Bucket: "my.bucket-1", Prefix: "a/B_c/"}, true},
		{"", batch.Place{}, false},
		{"bucket", batch.Place{}, false},
		{"s3://bucket", batch.Place{}, false},
		{"gs://", batch.Place{}, false},
		{"gs://ab", batch.Place{}, false},
		{"gs://Bucket", batch.Place{}, false},
		{"gs://bucket/../other", batch.Place{}, false},
		{"gs://bucket//a", batch.Place{}, false},
		{"gs://bucket/a?b", batch.Place{}, false},
		{"gs://bucket/" + strings.Repeat("a", 513), batch.Place{}, false},
	} {
		got, err := batch.ParsePlace(tt.uri)
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != tt.ok {
			t.Errorf("%s: %v (-want +got)\n%s", tt.uri, err, diff)
		}
	}
}

// TestIDsOfOtherHands never reach a path: nothing is asked of the store.
func TestIDsOfOtherHands(t *testing.T) {
	s, store, _ := service(t)
	id := put(t, s, requestLine(1))
	b, err := s.CreateBatch(t.Context(), &providers.BatchRequest{InputFileID: id, Endpoint: providers.BatchChat})
	if err != nil {
		t.Fatal(err)
	}
	last := func(s string) string {
		swap := "0"
		if strings.HasSuffix(s, swap) {
			swap = "1"
		}
		return s[:len(s)-1] + swap
	}
	elsewhere := *s
	elsewhere.Place.Prefix = "other/"
	objects := len(store.objects)
	for _, bad := range []string{
		"", "file-", "file-../../etc/passwd", "file-" + strings.Repeat("../", 10), last(id), strings.ToUpper(id), id + "0", id[:len(id)-1],
		"file-x" + id[6:], strings.Replace(id, "file-", "file-out-", 1), b.ID, "batch_" + strings.TrimPrefix(id, "file-"), id + "\x00", "gs://bucket/team/files/" + id,
	} {
		for name, do := range map[string]func() error{
			"get":     func() error { _, err := s.GetFile(t.Context(), bad); return err },
			"content": func() error { _, _, err := s.FileContent(t.Context(), bad); return err },
			"delete":  func() error { _, err := s.DeleteFile(t.Context(), bad); return err },
			"batch": func() error {
				_, err := s.CreateBatch(t.Context(), &providers.BatchRequest{InputFileID: cmpOr(bad, "x"), Endpoint: providers.BatchChat})
				return err
			},
		} {
			if err := do(); !errors.Is(err, providers.ErrFileNotFound) {
				t.Errorf("%s %q: %v", name, bad, err)
			}
		}
	}
	for _, bad := range []string{"", "batch_", last(b.ID), id, "batch_/../x"} {
		if _, err := s.GetBatch(t.Context(), bad); !errors.Is(err, providers.ErrBatchNotFound) {
			t.Errorf("batch %q: %v", bad, err)
		}
	}
	if _, err := elsewhere.GetFile(t.Context(), id); !errors.Is(err, providers.ErrFileNotFound) {
		t.Errorf("a file of another place: %v", err)
	}
	if len(store.objects) != objects {
		t.Error("objects have come or gone")
	}
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
