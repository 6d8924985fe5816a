package openai_test

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
)

// extraMembers returns the paths of the members that the client's type does not
// have, in order.
func extraMembers[T any](t *testing.T, raw string) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatal(err)
	}
	extra := map[string]bool{}
	collectExtra(extra, "", v, reflect.TypeFor[T]())
	return slices.Sorted(maps.Keys(extra))
}

func collectExtra(extra map[string]bool, path string, v any, typ reflect.Type) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			if typ.Kind() == reflect.Slice {
				collectExtra(extra, path+"[]", element, typ.Elem())
			}
		}
	case map[string]any:
		for name, member := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			if known, ok := memberType(typ, name); ok {
				collectExtra(extra, at, member, known)
			} else {
				extra[at] = true
			}
		}
	}
}

// memberType finds a member by its name in JSON.
func memberType(typ reflect.Type, name string) (reflect.Type, bool) {
	if typ.Kind() != reflect.Struct {
		return nil, false
	}
	for field := range typ.Fields() {
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag == name {
			return field.Type, true
		}
	}
	return nil, false
}

// explain adds what the gateway said, which the client's errors leave out.
func explain(err error) error {
	if e, ok := errors.AsType[*openai.Error](err); ok {
		return errors.New(e.Error() + ": " + e.RawJSON())
	}
	return err
}
