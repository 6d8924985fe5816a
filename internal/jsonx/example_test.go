package jsonx_test

import (
	"fmt"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// A type reads the members it knows and keeps the others as they are.
func Example() {
	var role string
	var extra []byte
	r := jsonx.NewReader([]byte(`{"role": "user", "seed": 9007199254740993}`))
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "role":
			role = r.String()
		default:
			key := string(r.Key())
			extra = jsonx.AppendMember(extra, key, r.Raw())
		}
	}
	if err := r.End(); err != nil {
		fmt.Println(err)
		return
	}

	var w jsonx.Writer
	w.BeginObject()
	w.Key("role")
	w.String(role)
	w.Members(extra)
	w.EndObject()
	fmt.Printf("%s\n", w.Bytes())
	// Output: {"role":"user","seed":9007199254740993}
}

func ExampleReader_Failf() {
	r := jsonx.NewReader([]byte(`{"messages": [{"content": true}]}`))
	for r.Object(); r.NextKey(); {
		for r.Array(); r.NextElem(); {
			for r.Object(); r.NextKey(); {
				if k := r.Kind(); k != jsonx.String && k != jsonx.Array {
					r.Failf("expected a string or an array of parts, got %s", k)
				}
			}
		}
	}
	fmt.Println(r.End())
	// Output: messages[0].content: expected a string or an array of parts, got boolean (offset 26)
}
