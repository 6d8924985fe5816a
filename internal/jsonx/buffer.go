package jsonx

import "sync"

// maxPooled is the capacity in bytes above which a buffer goes to the garbage
// collector, so that one huge request does not pin its memory.
const maxPooled = 4 << 20

// Buffer is a byte slice borrowed from a pool.
type Buffer struct {
	// B is empty when the buffer is borrowed and may be replaced by what append
	// returns.
	B []byte
}

var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// GetBuffer borrows an empty buffer.
func GetBuffer() *Buffer {
	b, _ := buffers.Get().(*Buffer)
	b.B = b.B[:0]
	return b
}

// Free gives the buffer back; neither it nor its bytes may be used after that.
func (b *Buffer) Free() {
	if cap(b.B) <= maxPooled {
		buffers.Put(b)
	}
}
