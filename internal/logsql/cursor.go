package logsql

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/b650d4bf/gateway/providers"
)

// cursorVersion is the first byte of a cursor.
const cursorVersion = 1

// Cursor returns the one that goes on after the row of that time and id.
func Cursor(at int64, id string) string {
	out := binary.BigEndian.AppendUint64([]byte{cursorVersion}, uint64(at))
	return base64.RawURLEncoding.EncodeToString(append(out, id...))
}

func parseCursor(s string) (at int64, id string, err error) {
	const head = 1 + 8
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) <= head || b[0] != cursorVersion || len(b) > head+wordBytes || string(b[head:]) != Text(string(b[head:])) {
		return 0, "", providers.Invalid("cursor", "is not one that a page had as its next")
	}
	return int64(binary.BigEndian.Uint64(b[1:head])), string(b[head:]), nil
}
