package chaos_test

// groups are the headings of the table, by the first word of a row's id.
var groups = map[string]string{
	"answer":  "An answer that breaks off",
	"request": "A request that breaks off",
	"half":    "Half a connection",
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
}
