package answers

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

var contentType = reflect.TypeFor[providers.Content]()

// full returns a value whose members are all set, however deep.
func full[T any](t *testing.T) *T {
	t.Helper()
	out := new(T)
	n := 0
	fill(t, reflect.ValueOf(out).Elem(), &n)
	return out
}

func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch {
	case v.Type() == contentType:
		part := new(providers.ContentPart)
		fill(t, reflect.ValueOf(part).Elem(), n)
		part.Type = providers.PartText
		v.Set(reflect.ValueOf(providers.PartsContent(*part)))
		return
	case v.Type() == reflect.TypeFor[providers.Meta]():
		return
	case v.Type().ConvertibleTo(reflect.TypeFor[[]byte]()) && v.Kind() == reflect.Slice:
		v.SetBytes([]byte(`{"a":1}`))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("s" + string(rune('a'+*n%26)))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 4)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if v.Type() == reflect.TypeFor[[]providers.TokenLogprob]() && *n > 10_000 {
			return
		}
		if v.Type().Elem() == reflect.TypeFor[providers.TokenLogprob]() { // it holds itself
			v.Index(0).Set(reflect.ValueOf(providers.TokenLogprob{Token: "a\xff", Logprob: -0.5, TopLogprobs: []providers.TokenLogprob{{Token: "b", Logprob: -1}}}))
			return
		}
		fill(t, v.Index(0), n)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"k": "v"}))
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				t.Fatalf("%s has members that the test can't set", v.Type())
			}
			fill(t, v.Field(i), n)
		}
	default:
		t.Fatalf("the test can't fill a %s", v.Type())
	}
}

// vary calls do for each member, however deep, with a function that changes it and
// returns how to change it back.
func vary(t *testing.T, v reflect.Value, do func(name string, set func() (undo func()))) {
	t.Helper()
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name
		if f.Kind() == reflect.Struct && f.Type() != contentType {
			vary(t, f, do)
			continue
		}
		do(name, func() func() { return change(t, f) })
		switch {
		case f.Type() == contentType:
			c, _ := reflect.TypeAssert[providers.Content](f)
			vary(t, reflect.ValueOf(c.Parts()).Index(0), do)
		case f.Kind() == reflect.Pointer && f.Type().Elem().Kind() == reflect.Struct:
			vary(t, f.Elem(), do)
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			vary(t, f.Index(0), do)
		}
	}
}

// change changes a member, in place where it leads elsewhere.
func change(t *testing.T, v reflect.Value) (undo func()) {
	t.Helper()
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	undo = func() { v.Set(old) }
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.5)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Map:
		v.SetMapIndex(reflect.ValueOf("new"), reflect.ValueOf("x"))
		return func() { v.SetMapIndex(reflect.ValueOf("new"), reflect.Value{}) }
	case reflect.Pointer:
		if v.Type().Elem().Kind() != reflect.Struct {
			return change(t, v.Elem())
		}
		v.SetZero()
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Uint8:
			b := v.Bytes()
			at := bytes.IndexByte(b, '1')
			b[at] = '2'
			return func() { b[at] = '1' }
		case reflect.Struct:
			v.SetZero()
		default:
			return change(t, v.Index(0))
		}
	case reflect.Struct:
		v.SetZero()
	default:
		t.Fatalf("the test can't change a %s", v.Type())
	}
	return undo
}
