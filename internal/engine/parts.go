package engine

const (
	mediaPage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding"
	audioPage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/audio-understanding"
	videoPage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/video-understanding"
	documentPage   = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/document-understanding"
	signaturePage  = "https://cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"
	executionPage  = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/code-execution"
	quotePage      = "https://platform.claude.com/docs/en/build-with-claude/search-results"
	resolutionPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/start/get-started-with-gemini-3"
)

// contentParts is the table of what becomes of a message's content parts and
// content blocks, and of the members they may have.
var contentParts = []param{
	{"text", translate, "text", "", inferencePage, false},
	{"refusal", translate, "text", "", inferencePage, false},
	{"image_url", translate, "inlineData, fileData", "images, PDF, video and audio alike: gs://, https, YouTube or a data URI", mediaPage, false},
	{"input_audio", translate, "inlineData, fileData", "the format tells the media type", audioPage, false},
	{"file", translate, "inlineData, fileData", "file_data, file_url, or file_id as gs://", documentPage, false},
	{"search_result", translate, "text", "in the form of Claude's schema: title, source and text", quotePage, false},
	{"document", translate, "text", "a document of blocks in the form of Claude's schema: title, context and text", quotePage, false},
	{"mime_type", translate, "mimeType", "of image_url and file: wins over what the URL suggests", mediaPage, false},
	{"detail", translate, "mediaResolution", "low and high; for the whole request where parts have none", resolutionPage, false},
	{"media_resolution", translate, "mediaResolution", "as detail, in the platform's words", resolutionPage, false},
	{"video_metadata", translate, "videoMetadata", "start_offset, end_offset and fps", videoPage, false},
	{"thinking", warn, "", "thinking is not sent back to this family of models", signaturePage, false},
	{"redacted_thinking", warn, "", "thinking is not sent back to this family of models", signaturePage, false},
	{"signature", forward, "thoughtSignature", "of text, images and code in content_blocks, as it came", signaturePage, false},
	{"extra_content.google", translate, "thoughtSignature, thought, functionResponse.parts", "as the platform's own OpenAI surface has it: on an assistant message, its calls, and a tool message", inferencePage, false},
	{"executable_code", forward, "executableCode", "in content_blocks, as it came", executionPage, false},
	{"code_execution_result", forward, "codeExecutionResult", "in content_blocks, as it came", executionPage, false},
}
