package messages

import "strings"

// carrierMark begins a signature that is not a Claude model's: the colon is in
// no base64, of which those are made. The digit is the version of the form.
const (
	carrierMark = "gw1"
	carrierKin  = "gw" // begins the mark of every version
)

// carrier is a signature on its way through a client that has no place for it
// but a thinking block: "gw1:", a letter for where it belongs, a colon and the
// signature, byte for byte.
type carrier struct {
	place     place
	signature string
}

// place says which block a carried signature belongs to.
type place byte

const (
	onCall   place = 'c' // the tool call that follows
	onText   place = 't' // the text that follows
	onOther  place = 'o' // the block of another type that follows
	onEmpty  place = 'e' // an empty text, which can't go out by itself
	onBefore place = 'b' // the block before: it came after the block had begun
)

// String is what the signature of the thinking block is.
func (c carrier) String() string { return carrierMark + ":" + string(c.place) + ":" + c.signature }

// readCarrier reads the signature of a thinking block. ok is false when it is
// the block's own. A carrier that was cut short, or is of another version,
// carries nothing, but is no one's signature either.
func readCarrier(s string) (c carrier, ok bool) {
	mark, rest, ok := strings.Cut(s, ":")
	if !ok || !strings.HasPrefix(mark, carrierKin) {
		return carrier{}, false
	}
	if mark != carrierMark || len(rest) < 3 || rest[1] != ':' {
		return carrier{}, true
	}
	return carrier{place(rest[0]), rest[2:]}, true
}
