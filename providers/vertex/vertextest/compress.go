package vertextest

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// compressed returns res with its body compressed when the caller takes gzip.
// Streams aren't compressed, nor are bodies given byte for byte or cut at a byte.
func compressed(x *exchange, reply Reply, res response) response {
	if x.streams() || res.asIs || reply.cutBytes != nil || !takesGzip(x.header) {
		return res
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(slices.Concat(res.events...))
	if err != nil || w.Close() != nil {
		return res // a buffer takes everything
	}
	res.header = res.header.Clone()
	res.header.Set("Content-Encoding", "gzip")
	res.events = [][]byte{b.Bytes()}
	return res
}

// takesGzip reports whether Accept-Encoding names gzip without excluding it.
func takesGzip(h http.Header) bool {
	for one := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		return err != nil || q > 0
	}
	return false
}
