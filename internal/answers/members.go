package answers

// Member says what becomes of a member of a request in keys.
type Member struct {
	// Type and Field name it as package providers does.
	Type, Field string
	// Part is the part of the key that it is in; empty for one that is left out.
	Part string
	// Why says why it is left out.
	Why string
}

// out is a member that no answer depends on.
func out(kind, field, why string) Member { return Member{Type: kind, Field: field, Why: why} }

// in are members of a part.
func in(part, kind string, fields ...string) []Member {
	list := make([]Member, len(fields))
	for i, f := range fields {
		list[i] = Member{Type: kind, Field: f, Part: part}
	}
	return list
}

// Members returns the table of what becomes of each member of chat and embedding
// requests. A test holds it against the types and the keys.
func Members() []Member {
	var list []Member
	for _, rows := range [][]Member{
		chatMembers(), messageMembers(), toolMembers(), embeddingMembers(),
	} {
		list = append(list, rows...)
	}
	return list
}

const (
	whyModel  = "the target's model is in the key, without the slug"
	whyForm   = "a stream and a whole answer are the same answer"
	whyLabels = "labels are for the bill"
	whyMeta   = "is part of the call's metadata, which the partition has"
)

func chatMembers() []Member {
	const kind = "ChatCompletionRequest"
	list := []Member{
		out(kind, "Model", whyModel), out(kind, "Stream", whyForm), out(kind, "StreamOptions", whyForm),
		out("StreamOptions", "IncludeUsage", whyForm), out("StreamOptions", "Extra", whyForm),
		out(kind, "Labels", whyLabels), out(kind, "User", whyMeta), out(kind, "Metadata", whyMeta),
	}
	list = append(list, in("messages", kind, "Messages")...)
	list = append(list, in("tools", kind, "Tools", "ToolChoice", "ParallelToolCalls")...)
	list = append(list, in("format", kind, "ResponseFormat", "Modalities")...)
	list = append(list, in("format", "ResponseFormat", "Type", "JSONSchema", "Extra")...)
	list = append(list, in("format", "JSONSchema", "Name", "Description", "Schema", "Strict", "Extra")...)
	list = append(list, in("params", kind, "MaxTokens", "MaxCompletionTokens", "Temperature", "TopP", "TopK", "N", "Stop", "Seed",
		"PresencePenalty", "FrequencyPenalty", "Logprobs", "TopLogprobs", "ReasoningEffort", "Thinking", "Extra")...)
	return append(list, in("params", "Thinking", "Type", "BudgetTokens", "Extra")...)
}

func messageMembers() []Member {
	list := in("messages", "Message", "Role", "Content", "Name", "ToolCalls", "ToolCallID", "ContentBlocks", "Audio", "Annotations", "Extra")
	for kind, fields := range map[string][]string{
		"ToolCall":     {"ID", "Type", "Extra"},
		"FunctionCall": {"Name", "Arguments", "ThoughtSignature", "Extra"},
		"ContentPart":  {"Type", "Text", "ImageURL", "InputAudio", "File", "Thinking", "Signature", "Data", "Extra"},
		"ImageURL":     {"URL", "Detail", "MimeType", "Extra"},
		"InputAudio":   {"Data", "Format", "Extra"},
		"File":         {"FileData", "FileID", "FileURL", "Filename", "MimeType", "Extra"},
		"Audio":        {"ID", "Data", "ExpiresAt", "Transcript", "MimeType", "Extra"},
		"Annotation":   {"Type", "URLCitation", "Extra"},
		"URLCitation":  {"StartIndex", "EndIndex", "URL", "Title", "Extra"},
	} {
		list = append(list, in("messages", kind, fields...)...)
	}
	return list
}

func toolMembers() []Member {
	list := in("tools", "Tool", "Type", "Extra")
	list = append(list, in("tools", "FunctionDefinition", "Name", "Description", "Parameters", "Strict", "Extra")...)
	return append(list, in("tools", "ToolChoice", "Mode", "Name", "Allowed", "AllowedMode", "Extra")...)
}

func embeddingMembers() []Member {
	const kind = "EmbeddingRequest"
	list := []Member{
		out(kind, "Model", whyModel), out(kind, "Labels", whyLabels), out(kind, "User", whyMeta),
		out(kind, "EncodingFormat", "is about the JSON of the answer alone"),
		out("EmbeddingInput", "Single", "is about the JSON of the request alone"),
	}
	list = append(list, in("input", "EmbeddingInput", "Items")...)
	list = append(list, in("input", "EmbeddingItem", "Text", "Tokens", "Image", "Video", "Audio", "File", "Extra")...)
	list = append(list, in("input", "EmbeddingMedia", "URL", "Base64", "MimeType", "StartOffset", "EndOffset", "Interval", "Extra")...)
	return append(list, in("params", kind, "Dimensions", "TaskType", "Title", "AutoTruncate", "Extra")...)
}
