package vertextest_test

import (
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQImWNwav0CAALIAbzDqqRyAAAAAElFTkSuQmCC"
	docx     = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
)

// holding is a body with one part beside a text.
func holding(part string) string {
	return `{"contents":[{"role":"user","parts":[` + part + `,{"text":"a"}]}]}`
}

func inline(mimeType, data string) string {
	return fmt.Sprintf(`{"inlineData":{"mimeType":%q,"data":%q}}`, mimeType, data)
}

func file(mimeType, uri string) string {
	return fmt.Sprintf(`{"fileData":{"mimeType":%q,"fileUri":%q}}`, mimeType, uri)
}

// files is a body with n files of a type from the web.
func files(n int, mimeType string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = file(mimeType, fmt.Sprintf("https://example.com/%d", i))
	}
	return holding(strings.Join(list, ","))
}

func tool(kind string) string { return `"tools":[{"` + kind + `":{}}]` }

func shaped(members string) string {
	return say("a", config(`"responseMimeType":"application/json",`+members))
}

// responding is a body that ends with a function response holding one part.
func responding(part string) string {
	return `{"contents":[{"role":"user","parts":[{"text":"a"}]},` +
		`{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"},"parts":[` + part + `]}}]}],` + functions(1) + `}`
}

// furtherRefusals are bodies that each break one rule of a model or of media.
func furtherRefusals() []refusal {
	const (
		modalities = "The requested combination of response modalities"
		mixed      = "Multiple tools are supported only when they are all search tools."
		speak      = `"responseModalities":["AUDIO"]`
		tts        = "gemini-2.5-flash-tts"
		jsonForm   = `{"name":"f","parametersJsonSchema":{"type":"object","properties":{"a":%s}}}`
	)
	big := base64.StdEncoding.EncodeToString(make([]byte, 7<<20+1))
	return []refusal{
		{"search on 1.5", "gemini-1.5-pro-002", say("a", tool("googleSearch")), "google_search is not supported"},
		{"search retrieval on 2.0", "gemini-2.0-flash", say("a", tool("googleSearchRetrieval")), "Please use google_search field instead of google_search_retrieval field."},
		{"search retrieval on 4", "gemini-4-neon", say("a", tool("googleSearchRetrieval")), "Please use google_search field"},
		{"enterprise search on 1.5", "gemini-1.5-flash", say("a", tool("enterpriseWebSearch")), "enterprise_web_search is not supported"},
		{"computer use on 2.5 Flash", "gemini-2.5-flash", say("a", tool("computerUse")), "computer_use is not supported"},
		{"the computer use model without its tool", "gemini-2.5-computer-use-preview-10-2025", say("a"), "requires the use of the Computer Use tool"},
		{"functions beside search on 2.5", "gemini-2.5-flash", say("a", `"tools":[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}}]`), mixed},
		{"code beside search on 2.5", "gemini-2.5-flash", say("a", `"tools":[{"codeExecution":{}},{"googleSearch":{}}]`), mixed},
		{"streamed arguments on 2.5", "gemini-2.5-flash", say("a", functions(1), streamArguments), "stream_function_call_arguments is not supported"},
		{"streamed arguments without a stream", "gemini-3.8-flash", say("a", functions(1), streamArguments), "StreamGenerateContent"},

		{"sound from a text model", "gemini-2.5-flash", say("a", config(speak)), modalities},
		{"text from a speaking model", tts, say("a", config(`"responseModalities":["TEXT"]`)), modalities + " (TEXT)"},
		{"text by default from a speaking model", tts, say("a"), "* AUDIO"},
		{"system instruction to a speaking model", tts, say("a", config(speak), `"systemInstruction":{"parts":[{"text":"a"}]}`), "Developer instruction is not enabled"},
		{"tools for a speaking model", tts, say("a", config(speak), functions(1)), "tools are not supported"},
		{"unknown voice", tts, say("a", config(speak+`,"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Nobody"}}}`)), "Voice name Nobody is not supported"},
		{"three speakers", tts, say("a", config(speak+`,"speechConfig":{"multiSpeakerVoiceConfig":{"speakerVoiceConfigs":[{},{},{}]}}`)), "exactly 2"},
		{"image settings on a text model", "gemini-2.5-flash", say("a", config(`"imageConfig":{"aspectRatio":"1:1"}`)), "image_config is not supported"},
		{"unknown aspect ratio", "gemini-2.5-flash-image", say("a", config(`"imageConfig":{"aspectRatio":"7:5"}`)), "aspect_ratio"},
		{"unknown image size", "gemini-3-pro-image", say("a", config(`"imageConfig":{"imageSize":"8K"}`)), "image_size"},
		{"unknown image type", "gemini-3-pro-image", say("a", config(`"imageConfig":{"imageOutputOptions":{"mimeType":"image/gif"}}`)), "output type"},
		{"logprobs on 2.0", "gemini-2.0-flash", say("a", config(`"responseLogprobs":true,"logprobs":6`)), "logprobs"},

		{"JSON Schema of parameters on 2.0", "gemini-2.0-flash", say("a", weatherTool), `Unknown name "parametersJsonSchema" at 'tools[0].function_declarations[0]'`},
		{"JSON Schema of a response on 1.5", "gemini-1.5-pro", shaped(`"responseJsonSchema":{"type":"object"}`), `Unknown name "responseJsonSchema" at 'generation_config'`},
		{"$ref beside other keywords", "gemini-3.8-flash", say("a", declare(fmt.Sprintf(jsonForm, `{"$ref":"#","description":"x"}`))), `"description"`},
		{"$ref to another document", "gemini-2.5-pro", say("a", declare(fmt.Sprintf(jsonForm, `{"$ref":"https://example.com/s.json"}`))), "leads out of the schema"},
		{"$ref to nowhere", "gemini-2.5-pro", shaped(`"responseJsonSchema":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/B"}]},"$defs":{"A":{}}}`), "leads nowhere"},
		{"$ref in responseFormat", "gemini-3.8-flash", say("a", config(`"responseFormat":[{"text":{"mimeType":"APPLICATION_JSON","schema":{"$ref":"#/x"}}}]`)), "response_format[0]"},
		{"ref to nowhere", "gemini-2.5-pro", shaped(`"responseSchema":{"type":"OBJECT","properties":{"a":{"ref":"#/defs/B"}},"defs":{"A":{"type":"STRING"}}}`), "root's defs"},
		{"enum of numbers", "gemini-2.5-pro", shaped(`"responseSchema":{"type":"INTEGER","enum":["1"]}`), "enum: only allowed for STRING type"},
		{"array without items in a choice", "gemini-2.5-pro", shaped(`"responseSchema":{"anyOf":[{"type":"ARRAY"}]}`), "any_of[0].items: missing field."},
		{"object without properties on 1.5", "gemini-1.5-pro", say("a", declare(`{"name":"f","parameters":{"type":"OBJECT","properties":{}}}`)), "should be non-empty for OBJECT type"},
		{"name with a space", "gemini-2.5-flash", say("a", declare(`{"name":"a b"}`)), "Invalid function name"},
		{"name of 129 characters", "gemini-2.5-flash", say("a", declare(`{"name":"`+strings.Repeat("a", 129)+`"}`)), "Invalid function name"},

		{"GIF", "gemini-2.5-flash", holding(inline("image/gif", onePixel)), "mimeType parameter with value image/gif, which is not supported"},
		{"JSON as a file", "gemini-2.0-flash", holding(file("application/json", "gs://a/b")), "mimeType parameter with value application/json, which is not supported"},
		{"office file on 3.8", "gemini-3.8-flash", holding(file(docx, "gs://a/b.docx")), "which is not supported"},
		{"image of more than 7 MB", "gemini-2.5-flash", holding(inline("image/png", big)), "larger than the limit"},
		{"body of more than 20 MB on 2.0", "gemini-2.0-flash", say(strings.Repeat("a", 20<<20)), "Request payload size exceeds the limit: 20971520 bytes."},
		{"two videos from the web", "gemini-2.5-flash", files(2, "video/mp4"), "more than 1 video"},
		{"eleven images from the web", "gemini-2.5-flash", files(11, "image/png"), "more than 10 image"},
		{"a host that doesn't exist", "gemini-2.5-flash", holding(file("image/png", "https://nowhere.invalid/a.png")), "Cannot fetch content from the provided URL"},
		{"video settings of an image", "gemini-2.5-flash", holding(`{"inlineData":{"mimeType":"image/png","data":"` + onePixel + `"},"videoMetadata":{"fps":1}}`), "video_metadata"},
		{"media in a function response on 2.5", "gemini-2.5-flash", responding(inline("image/png", onePixel)), "function_response.parts"},
		{"office file in a function response on 3.8", "gemini-3.8-flash", responding(inline(docx, "AAAA")), "which is not supported"},
		{"cache with a tool configuration", "gemini-2.5-flash", say("a", `"cachedContent":"projects/p/locations/l/cachedContents/1","toolConfig":{"retrievalConfig":{"languageCode":"en"}}`), "when using cached content"},
	}
}

const streamArguments = `"toolConfig":{"functionCallingConfig":{"streamFunctionCallArguments":true}}`

// furtherAcceptances are bodies that come close to a refusal.
func furtherAcceptances() []refusal {
	return []refusal{
		{name: "search retrieval on 1.5", model: "gemini-1.5-pro-002", body: say("a", `"tools":[{"googleSearchRetrieval":{"dynamicRetrievalConfig":{"mode":"MODE_DYNAMIC","dynamicThreshold":0.5}}}]`)},
		{name: "three search tools on 2.5", model: "gemini-2.5-pro", body: say("a", `"tools":[{"googleSearch":{}},{"urlContext":{}},{"googleMaps":{}}],"toolConfig":{"retrievalConfig":{"latLng":{"latitude":48.1,"longitude":11.5}}}`)},
		{name: "code on 1.5", model: "gemini-1.5-pro", body: say("a", tool("codeExecution"))},
		{name: "code, search and functions on 3", model: "gemini-3-flash-preview", body: say("a", `"tools":[{"codeExecution":{}},{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}]`)},
		{name: "computer use on 3 Flash", model: "gemini-3-flash-preview", body: say("a", tool("computerUse"))},
		{name: "computer use beside functions", model: "gemini-2.5-computer-use-preview-10-2025", body: say("a", `"tools":[{"computerUse":{"environment":"ENVIRONMENT_BROWSER"}},{"functionDeclarations":[{"name":"f"}]}]`)},
		{name: "voice in lower case", model: "gemini-2.5-pro-tts", body: say("a", config(`"responseModalities":["AUDIO"],"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"kore"}}}`))},
		{name: "two speakers", model: "gemini-3.1-flash-tts-preview", body: say("a", config(`"responseModalities":["AUDIO"],"speechConfig":{"multiSpeakerVoiceConfig":{"speakerVoiceConfigs":[{"speaker":"A","voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Kore"}}},{"speaker":"B","voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Puck"}}}]}}`))},
		{name: "Schema form on 2.0", model: "gemini-2.0-flash", body: say("a", declare(`{"name":"f","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING","enum":["x"]}},"required":["a"]}}`))},
		{name: "a property called $ref", model: "gemini-2.5-pro", body: say("a", declare(`{"name":"f","parametersJsonSchema":{"type":"object","properties":{"$ref":{"type":"string"},"b":{"$ref":"#/$defs/A","$comment":"x"}},"$defs":{"A":{"properties":{"a":{"$ref":"#/$defs/A"}}}}}}`))},
		{name: "a $ref to an anchor", model: "gemini-2.5-pro", body: shaped(`"responseJsonSchema":{"type":"array","items":{"$ref":"#a"},"$defs":{"A":{"$anchor":"a","type":"string"}}}`)},
		{name: "ref into the root's defs", model: "gemini-2.5-pro", body: shaped(`"responseSchema":{"type":"OBJECT","properties":{"a":{"ref":"#/defs/A"}},"defs":{"A":{"type":"STRING"}}}`)},
		{name: "office file on 4", model: "gemini-4-neon", body: holding(file(docx, "gs://a/b.docx"))},
		{name: "sound with a rate", model: "gemini-2.5-flash", body: holding(inline("audio/L16;rate=16000", "AAAA"))},
		{name: "any video", model: "gemini-2.5-flash", body: holding(file("video/*", "https://www.youtube.com/watch?v=1"))},
		{name: "two videos where they are", model: "gemini-2.5-flash", body: strings.ReplaceAll(files(2, "video/mp4"), "example.com", "youtu.be")},
		{name: "many images in a bucket", model: "gemini-2.5-flash", body: strings.ReplaceAll(files(20, "image/png"), "https://", "gs://")},
		{name: "video settings", model: "gemini-2.5-flash", body: holding(`{"fileData":{"mimeType":"video/mp4","fileUri":"gs://a/b"},"videoMetadata":{"startOffset":"1s","fps":2}}`)},
		{name: "media in a function response on 3", model: "gemini-3-flash-preview", body: responding(inline("image/png", onePixel))},
		{name: "body of more than 20 MB on 2.5", model: "gemini-2.5-flash", body: say(strings.Repeat("a", 20<<20), config(`"maxOutputTokens":1`))},
	}
}
