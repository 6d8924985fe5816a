package providers

import "time"

// SignatureMemory bounds what a [Provider] remembers of the thought signatures
// of tool calls, so that a call which comes back without its signature gets it
// again. Arguments are remembered as digests only. A zero member has its
// default.
type SignatureMemory struct {
	// Off remembers nothing.
	Off bool
	// Entries is the most signatures; default 50,000.
	Entries int
	// Bytes is the most memory; default 64 MiB.
	Bytes int64
	// TTL is how long a signature is remembered after its last use; default
	// 24 hours.
	TTL time.Duration
}

// SignatureStats counts what became of thought signatures. All members but
// Entries and Bytes only grow.
type SignatureStats struct {
	// Entries and Bytes are what is remembered now.
	Entries int
	Bytes   int64
	// Stored counts signatures of answers; Evicted and Expired those forgotten
	// for want of room or by age.
	Stored, Evicted, Expired int64
	// Restored counts calls that came back without a signature and got it again,
	// Missed those whose signature is not remembered.
	Restored, Missed int64
	// Sentinels counts calls that were sent with the sentinel in place of a
	// signature, which costs quality.
	Sentinels int64
}
