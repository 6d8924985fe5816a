package sse_test

import (
	"fmt"
	"strings"

	"github.com/b650d4bf/gateway/internal/sse"
)

func ExampleDecoder() {
	d := sse.NewDecoder(strings.NewReader("data: {\"text\": \"Hi\"}\n\n{\n  \"error\": {}\n}\n"), 0)
	for {
		event, err := d.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("stray %v: %q\n", event.Stray, event.Data)
	}
	// Output:
	// stray false: "{\"text\": \"Hi\"}"
	// stray true: "{\n  \"error\": {}\n}"
	// EOF
}
