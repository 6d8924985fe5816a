package engine

// speechParam is one row of the table of speech requests: what happens to a
// member, and where it goes.
type speechParam struct {
	name string
	at   embedPlace
	note string
	link string
	// extension says that the member comes beyond the schema's own fields.
	extension bool
}

const (
	openSpeechPage  = "https://platform.openai.com/docs/api-reference/audio/createSpeech"
	geminiVoicePage = "https://cloud.google.com/text-to-speech/docs/gemini-tts"
)

// speechParams is the table of speech requests. A member that is in no row and is
// one of a chat completion is read as such; others are left out with a warning.
var speechParams = []speechParam{
	{"model", inPath, "slug and publisher are taken off", speechPage, false},
	{"input", embedPlace{translate, "contents.parts.text"}, "", speechPage, false},
	{"voice", embedPlace{translate, "generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName"},
		"OpenAI's names stand for similar voices, with a warning; also an object with an id", geminiVoicePage, false},
	{"instructions", embedPlace{translate, "contents.parts.text"}, "before the input, with a colon after them", geminiVoicePage, false},
	{"response_format", here, "wav or pcm; without it wav, with a warning; mp3, opus, aac and flac are errors", speechPage, false},
	{"speed", nowhere, "1 says nothing; say it in instructions", openSpeechPage, false},
	{"stream_format", here, "audio says nothing; sse is an error", openSpeechPage, false},
	{"language_code", embedPlace{translate, "generationConfig.speechConfig.languageCode"}, "of the input, such as de-DE", geminiVoicePage, false},
	{"labels", embedPlace{translate, "labels"}, "checked before sending; also those made from metadata", labelsPage, false},
	{"user", here, "metadata _user of the call, for observers and logs", labelsPage, false},
	{"speech_config", embedPlace{forward, "generationConfig.speechConfig"}, "in the platform's own form, such as for two speakers; wins over voice", geminiVoicePage, true},
	{"temperature", embedPlace{translate, "generationConfig.temperature"}, "as in a chat completion", speechPage, true},
	{"seed", embedPlace{translate, "generationConfig.seed"}, "as in a chat completion", speechPage, true},
	{"safety_settings", embedPlace{forward, "safetySettings"}, "as in a chat completion", safetyPage, true},
}

// voiceNames maps the names of OpenAI's voices to similar ones of the platform.
//
// Source: https://platform.openai.com/docs/guides/text-to-speech#voice-options and
// https://cloud.google.com/text-to-speech/docs/gemini-tts#voice_options
var voiceNames = []struct{ name, voice, manner string }{
	{"alloy", "Kore", "firm"},
	{"ash", "Orus", "firm"},
	{"ballad", "Algieba", "smooth"},
	{"cedar", "Iapetus", "clear"},
	{"coral", "Sulafat", "warm"},
	{"echo", "Charon", "informative"},
	{"fable", "Puck", "upbeat"},
	{"marin", "Autonoe", "bright"},
	{"nova", "Zephyr", "bright"},
	{"onyx", "Algenib", "gravelly"},
	{"sage", "Vindemiatrix", "gentle"},
	{"shimmer", "Aoede", "breezy"},
	{"verse", "Fenrir", "excitable"},
}
