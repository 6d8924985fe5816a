package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
)

// TestRun checks what a newcomer sees.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`    calls  get_weather({"city":"Paris¦"})
    calls  get_weather({"city":"Rome¦"})
     tool  {"sky":"rain","celsius":11}
     tool  {"sky":"sunny","celsius":24}
    calls  book_train({"city":"Rome¦","seat":"window¦"})
     tool  {"booked":true,"departs":"09:40"}
assistant  Rome is sunny`,
		"3 signatures were restored from the client's memory, 0 could not be\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// TestCall checks that a mistake of the model's is a result.
func TestCall(t *testing.T) {
	for _, f := range []gateway.FunctionCall{
		{Name: "get_weather", Arguments: `{"city":1}`},
		{Name: "fly", Arguments: `{"city":"Rome"}`},
	} {
		if got := call(f); !strings.HasPrefix(got, `{"error":`) {
			t.Errorf("%s(%s) gives %s", f.Name, f.Arguments, got)
		}
	}
}
