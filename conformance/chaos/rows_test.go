package chaos_test

// groups are the headings of the table, by the first word of a row's id.
var groups = map[string]string{
	"answer":  "An answer that breaks off",
	"request": "A request that breaks off",
	"half":    "Half a connection",
	"stall":   "Silence",
	"client":  "Clients of the HTTP front",
}

var table = []row{
	{id: "answer/header", fault: "closed or reset at any byte before the answer's header is whole", out: []string{"connection_error"}, sent: maySent, least: 1, most: 1},
	{id: "answer/body", fault: "closed or reset at any byte of a whole answer's body", out: []string{"connection_error", right}, sent: maySent, least: 1, most: 1,
		note: "the answer where only the end of its frame is missing"},
	{id: "answer/unframed", fault: "closed at any byte of a body that only the connection's end delimits", out: []string{"bad_response"}, sent: maySent, least: 1, most: 1},
	{id: "answer/stream", fault: "closed or reset at any byte of a stream", out: []string{"stream_interrupted", right}, sent: maySent, least: 1, most: 1,
		note: "what came is a prefix of the text; the answer where the finish reason and the usage were there"},
	{id: "answer/refusal", fault: "closed or reset at any byte of a refusal's body", out: []string{"rate_limit_exceeded"}, sent: notSent, least: 1, most: 1},
	{id: "answer/whole", fault: "closed or reset after the last byte", out: []string{right}, sent: maySent, least: 1, most: 1},
	{id: "answer/stale", fault: "a connection that was kept is closed or reset as the next call takes it", out: []string{"connection_error", right}, sent: maySent, least: 0, most: 1},

	{id: "request/cut", fault: "closed or reset at any byte of the request", out: []string{"connection_error"}, sent: either, least: 0, most: 0,
		note: "billed is `no` where not a byte was written"},

	{id: "half/early", fault: "the platform shuts its sending side before it answers", out: []string{"connection_error"}, sent: maySent, least: 1, most: 1},
	{id: "half/late", fault: "the platform shuts its sending side after the answer, and keeps the other open", out: []string{right}, sent: maySent, least: 1, most: 1},

	{id: "stall/deadline header", fault: "silence before or within the answer's header, until the caller's deadline", out: []string{"timeout"}, sent: maySent, least: 1, most: 1},
	{id: "stall/deadline body", fault: "silence at any byte of the answer, until the caller's deadline", out: []string{"timeout", right}, sent: maySent, least: 1, most: 1,
		note: "the answer where only the end of its frame is missing"},
	{id: "stall/cancel header", fault: "silence before or within the answer's header, until the caller cancels", out: []string{"canceled"}, sent: maySent, least: 1, most: 1},
	{id: "stall/cancel body", fault: "silence at any byte of the answer, until the caller cancels", out: []string{"canceled", right}, sent: maySent, least: 1, most: 1,
		note: "the answer where only the end of its frame is missing"},
	{id: "stall/limit header", fault: "silence before or within the answer's header, longer than `FirstByte`", out: []string{"timeout"}, sent: maySent, least: 1, most: 1},
	{id: "stall/limit body", fault: "silence at any byte of the answer, longer than `Idle`", out: []string{"timeout", right}, sent: maySent, least: 1, most: 1,
		note: "the answer where only the end of its frame is missing"},
	{id: "stall/slow", fault: "an answer that comes a byte at a time, each within `Idle`", out: []string{right}, sent: maySent, least: 1, most: 1},
	{id: "stall/total", fault: "an answer that comes a byte at a time, longer than `Total`", out: []string{"timeout"}, sent: maySent, least: 1, most: 1},
	{id: "stall/unread", fault: "a platform that accepts and never reads, with a small and a large request", out: []string{"timeout"}, sent: maySent, least: 0, most: 0},

	{id: "client/slow", fault: "a client that sends or reads a byte at a time", out: []string{right}, sent: maySent, least: 1, most: 1},
	{id: "client/stops", fault: "a client that stops within the header, or leaves within the body", out: []string{"no call is made"}, sent: notSent, least: 0, most: 0,
		note: "within the header the server ends the connection after its `ReadHeaderTimeout`"},
	{id: "client/gone before", fault: "a client that leaves before its answer", out: []string{"canceled"}, sent: maySent, least: 1, most: 1, note: "in the log; the platform's connection is closed"},
	{id: "client/gone within", fault: "a client that leaves within a stream", out: []string{"canceled"}, sent: maySent, least: 1, most: 1, note: "likewise"},
	{id: "client/never reads", fault: "a client that reads nothing of a stream, and leaves", out: []string{"canceled"}, sent: maySent, least: 1, most: 1, note: "likewise"},
}
