package canary_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/b650d4bf/gateway"
)

// printed is all that is to be seen of a value: by fmt, JSON, slog, zap, and by what
// walks over exported members.
func printed(v any) string {
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}
	_, guarded := v.(fmt.Formatter) // a copy of what has a lock is no use of it
	if _, c := v.(*gateway.Client); c {
		guarded = false
	}
	if e := reflect.ValueOf(v); e.Kind() == reflect.Pointer && !e.IsNil() && e.Elem().CanInterface() && !guarded {
		fmt.Fprintf(&b, "%+v\n%#v\n", e.Elem().Interface(), e.Elem().Interface())
	}
	j, err := json.Marshal(v)
	fmt.Fprintln(&b, string(j), err)
	all := &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}
	slog.New(slog.NewTextHandler(&b, all)).Debug("m", "v", v)
	slog.New(slog.NewJSONHandler(&b, all)).Debug("m", "v", v)
	for _, encoder := range []zapcore.Encoder{zapcore.NewJSONEncoder(zap.NewDevelopmentEncoderConfig()), zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig())} {
		zap.New(zapcore.NewCore(encoder, zapcore.AddSync(&b), zap.DebugLevel)).Debug("m", zap.Any("v", v), zap.Reflect("r", v))
	}
	walk(&b, reflect.ValueOf(v), 0)
	return b.String()
}

// walk writes what is reached over exported members, as loggers and test tools do. It
// does not go into the answer that an error has kept for its caller.
func walk(b *strings.Builder, v reflect.Value, depth int) {
	if !v.IsValid() || depth > 12 {
		return
	}
	if v.CanInterface() {
		if s, ok := reflect.TypeAssert[fmt.Formatter](v); ok {
			fmt.Fprintf(b, "%v\n", s)
			return
		}
	}
	switch v.Kind() {
	case reflect.String:
		b.WriteString(v.String() + "\n")
	case reflect.Pointer, reflect.Interface:
		walk(b, v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
			b.Write(v.Bytes())
			b.WriteByte('\n')
			return
		}
		for i := range v.Len() {
			walk(b, v.Index(i), depth+1)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			walk(b, it.Key(), depth+1)
			walk(b, it.Value(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Partial" {
				walk(b, v.Field(i), depth+1)
			}
		}
	default:
	}
}

// chain is an error and all below it.
func chain(err error) []error {
	if err == nil {
		return nil
	}
	out := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		out = append(out, chain(e.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, below := range e.Unwrap() {
			out = append(out, chain(below)...)
		}
	}
	return out
}

// seenOf is all that is to be seen of an error.
func seenOf(err error) string {
	var b strings.Builder
	for _, e := range chain(err) {
		b.WriteString(printed(e))
	}
	return b.String()
}

// TestErrorsOfEveryFailure has every call fail in every way, in Go and over HTTP. No
// error has a credential, and none quotes what was asked unless the platform's own
// sentence does.
func TestErrorsOfEveryFailure(t *testing.T) {
	for name, fails := range failures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, gateway.WithTimeouts(gateway.Timeouts{FirstByte: 50 * time.Millisecond, Idle: 50 * time.Millisecond}))
			s.platform.mode = fails
			hidden := []kind{credential, content}
			if isEcho(name) {
				hidden = hidden[:1]
			}
			_, errs := s.ask(t.Context(), t)
			for what, err := range errs {
				if err == nil {
					t.Errorf("%s went well", what)
				}
				s.refuse(t, what, seenOf(err), hidden...)
				if name == "echo of 401" && what == "chat token" { // a credential would be there too
					s.want(t, "an error of the library", seenOf(err), "prompt")
				}
			}
			for what, w := range s.sendAll(t) {
				if w.Code == 200 && !strings.Contains(what, "stream") && what != "stored prompt rendered" && what != "native" {
					t.Errorf("%s went well", what)
				}
				if what != "stored prompt rendered" && (what != "native" || w.Code != 200) { // what was asked for, or as it came
					s.refuse(t, what, shownByFront(w), hidden...)
				}
			}
			s.want(t, "an error that quotes", seenOf(fmt.Errorf("it was %w", errors.New(s.text("prompt")))), "prompt")
		})
	}
}

// TestErrorsOfCallersHooks has the hooks of the caller fail.
func TestErrorsOfCallersHooks(t *testing.T) {
	f := newFlock(t, t.Name())
	guard := gateway.Guard{Name: "moderation", Request: func(context.Context, *gateway.ChatCompletionRequest) (*gateway.ChatCompletionRequest, error) {
		f.witness(hook, f.secret("key of a guard"))
		return nil, fmt.Errorf("%w: https://moderation.example/?key=%s refused %s", errHook, f.secret("key of a guard"), f.text("prompt"))
	}}
	s := sceneOf(t, f, gateway.WithGuards(guard))
	_, errs := s.ask(t.Context(), t)
	for what, err := range errs {
		if what == "embedding" {
			continue
		}
		if !errors.Is(err, gateway.ErrGuardDenied) || !errors.Is(err, errHook) {
			t.Errorf("%s: %v", what, err)
			continue
		}
		// The guard's own error is below, for its owner: errors.Unwrap gives it out.
		s.refuse(t, what, fmt.Sprintf("%v %+v %s %q %x", err, err, err, err, err), credential, content)
		j, _ := json.Marshal(err)
		s.refuse(t, what+" as JSON", string(j), credential, content)
		s.want(t, "the guard's own error", fmt.Sprint(errors.Unwrap(err)), "key of a guard")
	}
	for what, w := range s.sendAll(t) {
		if what != "stored prompt rendered" {
			s.refuse(t, what, shownByFront(w), credential)
		}
	}
	f.want(t, "the guard", f.seen(), "key of a guard")
}
