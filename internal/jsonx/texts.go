package jsonx

// Texts is where readers put the short strings of a stream, side by side in blocks, so
// that each piece of an answer takes no memory of its own. A string keeps its block in
// memory, at most blockSize bytes. The zero value is ready. It is not safe for concurrent
// use.
type Texts struct{ block []byte }

const (
	blockSize = 512
	maxPacked = 64 // the longest string in a block
)

// string returns a copy of b. Without Texts each takes memory of its own.
func (t *Texts) string(b []byte) string {
	if t == nil || len(b) == 0 || len(b) > maxPacked {
		return string(b)
	}
	at := len(t.block)
	if at+len(b) > cap(t.block) {
		t.block, at = make([]byte, 0, blockSize), 0
	}
	t.block = append(t.block, b...)
	return stringView(t.block[at:])
}
