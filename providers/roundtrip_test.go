package providers_test

import (
	"testing"
)

// The documents of this table come out byte for byte as they go in.
func TestRoundTripKeepsEveryByte(t *testing.T) {
	tests := []struct{ name, kind, doc string }{
		{"all scalars of a request", "ChatCompletionRequest", `{"model":"m","messages":[],"max_tokens":1,` +
			`"max_completion_tokens":2,"temperature":0,"top_p":0.95,"top_k":40,"n":2,"stop":["a","b"],"seed":-9007199254740993,` +
			`"presence_penalty":-0.5,"frequency_penalty":0.5,"logprobs":false,"top_logprobs":0,"stream":true,` +
			`"stream_options":{"include_usage":true},"parallel_tool_calls":false,"response_format":{"type":"json_object"},` +
			`"reasoning_effort":"low","thinking":{"type":"enabled","budget_tokens":0},"modalities":["text","image"],` +
			`"labels":{"a":"1","b":"2"},"user":"u"}`},
		{"unknown members in order", "ChatCompletionRequest",
			`{"model":"m","messages":[],"zeta":1.50,"alpha":[ 1 , 2 ],"nothing":null,"big":12345678901234567890123,"e":"é","nested":{"z":1,"a":{}}}`},
		{"schema with key order and big numbers", "ChatCompletionRequest",
			`{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":` +
				`{"type":"object","required":["z"],"properties":{"z":{"maximum":18446744073709551616},"a":{"const":1.0}}},"strict":true,"x":1},"cache_control":{}}]}`},
		{"tool without a function", "Tool", `{"type":"web_search","search_context_size":"low"}`},
		{"function without parameters", "Tool", `{"type":"function","function":{"name":"f"}}`},
		{"answer schema", "ResponseFormat",
			`{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"z":0,"a":1e400},"strict":false,"x":{}},"y":1}`},
		{"stream options", "StreamOptions", `{"include_usage":false,"include_obfuscation":false}`},
		{"thinking", "Thinking", `{"type":"adaptive","effort":"high"}`},
		{"mode", "ToolChoice", `"required"`},
		{"forced function", "ToolChoice", `{"type":"function","function":{"name":"f"}}`},
		{"allowed functions", "ToolChoice", `{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[` +
			`{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]},"x":1}`},
		{"choice of another kind", "ToolChoice", `{"type":"custom","custom":{"name":"grep"}}`},
		{"choice with a bare name", "ToolChoice", `{"type":"tool","name":"f","disable_parallel_tool_use":true}`},
		{"string content", "Message", `{"role":"user","content":"a\"\\\nb","name":"n"}`},
		{"empty string content", "Message", `{"role":"user","content":""}`},
		{"empty list of parts", "Message", `{"role":"user","content":[]}`},
		{"null content beside calls", "Message", `{"role":"assistant","content":null,"tool_calls":[` +
			`{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"n\":12345678901234567890}","thought_signature":"AAEC/+8="}}]}`},
		{"tool result", "Message", `{"role":"tool","content":"{\"t\": 20}","tool_call_id":"c1"}`},
		{"answer with audio and annotations", "Message", `{"role":"assistant","content":null,"audio":{"id":"a","data":"YQ==","expires_at":1,"transcript":"t","mime_type":"m","x":1.0},` +
			`"annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":2,"url":"u","title":"","y":{}},"z":null}]}`},
		{"answer with blocks", "Message", `{"role":"assistant","content":"x","content_blocks":[` +
			`{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"redacted_thinking","data":"zz"},` +
			`{"type":"text","text":"","signature":"s2"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}],"refusal":null}`},
		{"every kind of part", "Content", `[{"type":"text","text":"t"},{"type":"image_url","image_url":` +
			`{"url":"gs://b/o","detail":"low","mime_type":"image/png","x":1}},{"type":"input_audio","input_audio":{"data":"AA==","format":"wav","x":1}},` +
			`{"type":"file","file":{"file_data":"d","file_id":"i","file_url":"u","filename":"n","mime_type":"m","x":1}},` +
			`{"type":"video","video":{"fps":1},"cache_control":{"type":"ephemeral"}}]`},
		{"tool call with unknown members", "ToolCall", `{"id":"","type":"custom","function":{"name":"f","arguments":"","x":1},"y":2}`},
		{"piece of a tool call", "ToolCallDelta", `{"index":3,"id":"c","type":"function","function":{"name":"f","arguments":"{","thought_signature":"s","x":1},"y":2}`},
		{"answer", "ChatCompletion", `{"id":"i","object":"chat.completion","created":1700000000,"model":"m","choices":[` +
			`{"index":1,"message":{"role":"assistant","content":"x"},"logprobs":{"content":[{"token":"x","logprob":-0.25,"bytes":[120],"top_logprobs":[` +
			`{"token":"y","logprob":-1,"bytes":[121]}]}],"refusal":null},"finish_reason":"stop","native_finish_reason":"STOP","safetyRatings":[{"b":1,"a":2}]}],` +
			`"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":1,"audio_tokens":0,"x":1},` +
			`"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0,"y":2},"traffic_type":"ON_DEMAND"},"provider":"vertex-ai","system_fingerprint":"fp"}`},
		{"a request for vectors", "EmbeddingRequest", `{"model":"m","input":["a",{"text":"b","image":{"url":"gs://b/a.png","mime_type":"image/png","x":1},` +
			`"video":{"base64":"AA==","start_offset":0,"end_offset":2.5,"interval":1},"audio":{"url":"u"},"file":{"url":"f"},"y":[]}],"dimensions":3,` +
			`"encoding_format":"base64","task_type":"CLUSTERING","title":"t","auto_truncate":false,"labels":{"a":"b"},"user":"u","zeta":1.50}`},
		{"tokens", "EmbeddingRequest", `{"model":"m","input":[1,2]}`},
		{"lists of tokens", "EmbeddingRequest", `{"model":"m","input":[[1,2],"a",[9007199254740993]]}`},
		{"a text completion", "CompletionRequest", `{"model":"m","prompt":"a","suffix":"b","max_tokens":1,"temperature":0.5,"top_p":1,"n":2,"best_of":3,"stop":["x"],"seed":7,` +
			`"presence_penalty":1,"frequency_penalty":-1,"logprobs":0,"echo":true,"stream":true,"stream_options":{"include_usage":true},"user":"u","logit_bias":{"50256": -100},"x":[1 ,2]}`},
		{"text completions", "CompletionRequest", `{"model":"m","prompt":["a","b"]}`},
		{"an answer of text", "Completion", `{"id":"i","object":"text_completion","created":1,"model":"m","choices":[{"text":"t","index":0,"logprobs":null,"finish_reason":"stop","x":1}],` +
			`"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}},"y":2}`},
		{"an answer with log probabilities", "Completion", `{"id":"","object":"text_completion","created":0,"model":"","choices":[{"text":"ab","index":1,"logprobs":` +
			`{"tokens":["a","b"],"token_logprobs":[-0.5,-1],"top_logprobs":[{"a":-0.5,"\"":-2},{}],"text_offset":[0,1]},"finish_reason":null}]}`},
		{"a single text", "EmbeddingRequest", `{"model":"m","input":"a"}`},
		{"a list of one text", "EmbeddingRequest", `{"model":"m","input":["a"]}`},
		{"a single image", "EmbeddingRequest", `{"model":"m","input":{"image":{"url":"u"}}}`},
		{"an empty list of inputs", "EmbeddingRequest", `{"model":"m","input":[]}`},
		{"no input", "EmbeddingRequest", `{"model":"m","input":null}`},
		{"vectors", "EmbeddingResponse", `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[-0.020920176059007645,1e-7,0]},` +
			`{"object":"embedding","index":1,"embedding":[],"image_embedding":[0.5],"video_embeddings":[{"object":"embedding","index":0,"embedding":[1],` +
			`"start_offset":0,"end_offset":16}],"x":1}],"model":"m","usage":{"prompt_tokens":3,"total_tokens":3,"y":2},"provider":"vertex-ai","z":3}`},
		{"packed vectors", "EmbeddingResponse", `{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AACAPwAAAL8="}],"model":"m"}`},
	}
	all := recoders()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := all[tt.kind]([]byte(tt.doc))
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, tt.doc, string(got))
		})
	}
}

// The documents of this table say the same in another spelling.
func TestRoundTripNormalizes(t *testing.T) {
	tests := []struct{ name, kind, in, out string }{
		{"nulls in optional members", "ChatCompletionRequest",
			`{"model":"m","messages":null,"max_tokens":null,"max_completion_tokens":null,"temperature":null,"top_p":null,"top_k":null,"n":null,` +
				`"stop":null,"seed":null,"presence_penalty":null,"frequency_penalty":null,"logprobs":null,"top_logprobs":null,"stream":null,` +
				`"stream_options":null,"tools":null,"tool_choice":null,"parallel_tool_calls":null,"response_format":null,"reasoning_effort":null,` +
				`"thinking":null,"modalities":null,"labels":null,"user":null}`, `{"model":"m","messages":[]}`},
		{"nulls in a message", "Message",
			`{"role":"assistant","content":null,"name":null,"tool_calls":null,"tool_call_id":null,"content_blocks":null}`,
			`{"role":"assistant","content":null}`},
		{"nulls in a part", "ContentPart",
			`{"type":"text","text":null,"image_url":null,"input_audio":null,"file":null,"thinking":null,"signature":null,"data":null}`,
			`{"type":"text","text":""}`},
		{"nulls in a tool", "Tool", `{"type":"function","function":{"name":"f","description":null,"parameters":null,"strict":null}}`,
			`{"type":"function","function":{"name":"f"}}`},
		{"nulls in an answer schema", "ResponseFormat", `{"type":"json_schema","json_schema":{"name":"n","schema":null,"strict":null}}`,
			`{"type":"json_schema","json_schema":{"name":"n"}}`},
		{"nulls in an answer", "ChatCompletion", `{"id":"i","choices":[{"index":0,"message":null,"logprobs":null,"finish_reason":null}],"usage":null}`,
			`{"id":"i","object":"chat.completion","created":0,"model":"","choices":[{"index":0,"message":{"role":"","content":null},` +
				`"logprobs":null,"finish_reason":null}]}`},
		{"nulls in usage", "Usage", `{"prompt_tokens":null,"prompt_tokens_details":null,"completion_tokens_details":null}`,
			`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},` +
				`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}}`},
		{"stop as a string", "ChatCompletionRequest", `{"model":"m","messages":[],"stop":"END"}`, `{"model":"m","messages":[],"stop":["END"]}`},
		{"empty stop", "ChatCompletionRequest", `{"model":"m","messages":[],"stop":""}`, `{"model":"m","messages":[]}`},
		{"image as a bare string", "ContentPart", `{"type":"image_url","image_url":"https://x/y.png"}`,
			`{"type":"image_url","image_url":{"url":"https://x/y.png"}}`},
		{"arguments as an object", "FunctionCall", `{"name":"f","arguments":{"z":12345678901234567890, "a":[1.0]}}`,
			`{"name":"f","arguments":"{\"z\":12345678901234567890, \"a\":[1.0]}"}`},
		{"null arguments", "FunctionCall", `{"name":"f","arguments":null}`, `{"name":"f","arguments":""}`},
		{"mode as an object", "ToolChoice", `{"type":"auto"}`, `"auto"`},
		{"function by a flat name", "ToolChoice", `{"type":"function","name":"f"}`, `{"type":"function","function":{"name":"f"}}`},
		{"integral float", "ChatCompletionRequest", `{"model":"m","messages":[],"max_tokens":1e3}`, `{"model":"m","messages":[],"max_tokens":1000}`},
		{"missing type", "ContentPart", `{"text":"x"}`, `{"type":"","text":"x"}`},
		{"escaped member name", "Thinking", `{"\u0074ype":"enabled","caf\u00e9":1}`, `{"type":"enabled","café":1}`},
		{"lone surrogate", "Content", `"a\ud800b"`, `"a` + "\ufffd" + `b"`},
	}
	all := recoders()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := all[tt.kind]([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, tt.out, string(got))
			again, err := all[tt.kind](got)
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, tt.out, string(again))
		})
	}
}

// encode must not depend on what a value held before.
func TestDecodeForgetsTheFormerValue(t *testing.T) {
	full := `{"role":"assistant","content":"x","name":"n","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"x":1}`
	m := decode[message](t, full)
	if err := m.UnmarshalJSON([]byte(`{"role":"user"}`)); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, `{"role":"user","content":null}`, encode(t, m))
}

func TestDecodedValuesDoNotAliasTheInput(t *testing.T) {
	data := []byte(`{"model":"m","messages":[{"role":"user","content":"abc","x":"extra"}],` +
		`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`)
	want := string(data)
	req := decode[request](t, want)
	if err := req.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = '#'
	}
	wantEqual(t, want, encode(t, req))
}
