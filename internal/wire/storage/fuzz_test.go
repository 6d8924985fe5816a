package storage_test

import (
	"testing"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/internal/wire/storage"
)

func FuzzList(f *testing.F) {
	testkit.FuzzDecode(f, (*storage.List).Decode,
		`{"items":[{"bucket":"b","name":"a/../b","size":"12","generation":1,"metadata":{"a":"b","a":"c"}}],"nextPageToken":"t"}`,
		`{"items":null,"nextPageToken":null}`, `{"name":"a","size":"9223372036854775808"}`, `{"items":[[]]}`, `{"name":"\ud800","metadata":{"":"\u0000"}}`, `[]`, "{\"name\":\"\xff\"}")
}
