package providertest

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

func (s *subject) refusal() {
	target := *s.target
	target.Model = UnknownModel
	req := s.question()
	req.Model = UnknownModel
	_, whole := s.provider.ChatCompletion(s.Context(), &target, req)
	r, opened := s.provider.ChatCompletionStream(s.Context(), &target, req)
	if opened == nil {
		_ = r.Close()
		s.Error("a stream that is refused began; the refusal belongs to the opening")
	}
	for _, err := range []error{whole, opened} {
		var e *providers.Error
		if !errors.As(err, &e) {
			s.Errorf("got %v, want an Error", err)
			continue
		}
		if e.Provider != s.provider.Name() || e.Code == "" || e.Error() == "" {
			s.Errorf("%v has the provider %q and the code %q", err, e.Provider, e.Code)
		}
		s.noToken(err)
	}
}

// noToken checks that an error does not hold the access token.
func (s *subject) noToken(err error) {
	s.Helper()
	if s.target.Token == nil {
		return
	}
	token, fault := s.target.Token.Token(s.Context())
	if fault == nil && len(token.Value) > 3 && strings.Contains(err.Error(), token.Value) {
		s.Error("the error holds the access token")
	}
}

// both runs a call in both forms.
func (s *subject) both(ctx context.Context) (whole, stream error) {
	_, whole = s.provider.ChatCompletion(ctx, s.target, s.question())
	r, stream := s.provider.ChatCompletionStream(ctx, s.target, s.question())
	if stream == nil {
		defer func() { _ = r.Close() }()
		_, stream = r.Recv()
	}
	return whole, stream
}

func (s *subject) canceledBefore() {
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	s.ended(ctx, providers.ErrCanceled, context.Canceled)
}

func (s *subject) deadline() {
	ctx, cancel := context.WithDeadline(s.Context(), time.Unix(1, 0))
	defer cancel()
	s.ended(ctx, providers.ErrTimeout, context.DeadlineExceeded)
}

// ended checks the errors of calls whose context has ended.
func (s *subject) ended(ctx context.Context, code providers.Code, cause error) {
	s.Helper()
	whole, stream := s.both(ctx)
	for form, err := range map[string]error{"whole": whole, "stream": stream} {
		if !errors.Is(err, code) || !errors.Is(err, cause) {
			s.Errorf("%s: got %v, want %s by way of %v", form, err, code, cause)
		}
	}
}

// canceledWithin leaves a stream after its first chunk. What had come already
// may still be given out, but the end is one of the two that are true.
func (s *subject) canceledWithin() {
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	r := s.open(ctx, s.question())
	if _, err := r.Recv(); err != nil {
		s.Fatalf("Recv: %v", err)
	}
	cancel()
	var err error
	for n := 0; err == nil; n++ {
		if _, err = r.Recv(); n > 10000 {
			s.Fatal("a stream that was left goes on")
		}
	}
	if !errors.Is(err, providers.ErrCanceled) && !errors.Is(err, io.EOF) {
		s.Errorf("got %v, want the end or ErrCanceled", err)
	}
	if _, again := r.Recv(); again == nil || again.Error() != err.Error() {
		s.Errorf("got %v after %v, want it repeated", again, err)
	}
}

func (s *subject) closedTwice() {
	r := s.open(s.Context(), s.question())
	if _, err := r.Recv(); err != nil {
		s.Fatalf("Recv: %v", err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			s.Errorf("Close: %v", err)
		}
	}
	var err error
	for n := 0; err == nil; n++ {
		if _, err = r.Recv(); n > 10000 {
			s.Fatal("a stream that was closed goes on")
		}
	}
	c, ok := s.provider.(io.Closer)
	for range 2 {
		if ok && c.Close() != nil {
			s.Error("closing the provider failed")
		}
	}
}

// untouched compares the request and the target with copies of them.
func (s *subject) untouched() {
	for _, req := range []*providers.ChatCompletionRequest{s.question(), s.errand()} {
		before, target, header := s.encoded(req), *s.target, s.target.Header.Clone()
		s.whole(req)
		s.folded(req)
		if after := s.encoded(req); after != before {
			s.Errorf("the request was\n%s\nand is\n%s", before, after)
		}
		same := maps.EqualFunc(header, s.target.Header, slices.Equal[[]string])
		target.Header = s.target.Header // compared, and no two maps can be
		if !same || target.Slug != s.target.Slug || target.Model != s.target.Model || target.Region != s.target.Region ||
			target.ProjectID != s.target.ProjectID || target.BaseURL != s.target.BaseURL || target.Timeouts != s.target.Timeouts {
			s.Errorf("the target was %+v and is %+v", target, *s.target)
		}
	}
}

func (s *subject) encoded(req *providers.ChatCompletionRequest) string {
	s.Helper()
	data, err := req.MarshalJSON()
	if err != nil {
		s.Fatalf("encode: %v", err)
	}
	return string(data)
}

// concurrent shares one provider, target and request among many calls; the
// race detector sees what they should not share.
func (s *subject) concurrent() {
	req := s.question()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := s.provider.ChatCompletion(s.Context(), s.target, req); err != nil {
				s.Errorf("ChatCompletion: %v", err)
			}
		})
		wg.Go(func() {
			r, err := s.provider.ChatCompletionStream(s.Context(), s.target, req)
			for err == nil {
				_, err = r.Recv()
			}
			if !errors.Is(err, io.EOF) {
				s.Errorf("stream: %v", err)
			}
			if r != nil {
				_ = r.Close()
			}
		})
	}
	wg.Wait()
}
