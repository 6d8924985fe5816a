package engine

import "github.com/b650d4bf/gateway/catalog"

// imageParam is one row of the table of image requests: what happens to a member
// on its way to each method, and where it goes.
type imageParam struct {
	name string
	// predict and content are the two methods.
	predict, content embedPlace
	note             string
	link             string
	// extension says that the member comes beyond the schema's own fields, in
	// either case style.
	extension bool
}

const (
	imagenPage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api"
	imagenEditPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api-edit"
	openImagesPage = "https://platform.openai.com/docs/api-reference/images"
)

// imageParams is the table of image requests. Members that are in no row are left
// out with a warning; for generateContent those of a chat completion are read as
// such.
var imageParams = []imageParam{
	{"model", inPath, inPath, "slug and publisher are taken off; the table of models says which method", imagenPage, false},
	{"prompt", embedPlace{translate, "instances.prompt"}, embedPlace{translate, "contents.parts"}, "", imagenPage, false},
	{"image", embedPlace{translate, "instances.referenceImages"}, embedPlace{translate, "contents.parts"},
		"edits only; also as images, image_url and form files", imagenEditPage, false},
	{"mask", embedPlace{translate, "instances.referenceImages"}, embedPlace{reject, ""},
		"transparent becomes white; one without transparency goes as it is", imagenEditPage, false},
	{"n", embedPlace{translate, "parameters.sampleCount"}, embedPlace{translate, "(requests)"}, "shared among several requests where one gives fewer", imagenPage, false},
	{"size", embedPlace{translate, "parameters.aspectRatio, sampleImageSize"}, embedPlace{translate, "generationConfig.imageConfig.aspectRatio, imageSize"},
		"the nearest shape, with a warning where it is another; auto says nothing", imagenPage, false},
	{"aspect_ratio", embedPlace{translate, "parameters.aspectRatio"}, embedPlace{translate, "generationConfig.imageConfig.aspectRatio"}, "wins over size", imagenPage, false},
	{"image_size", embedPlace{translate, "parameters.sampleImageSize"}, embedPlace{translate, "generationConfig.imageConfig.imageSize"}, "wins over size", imagenPage, false},
	{"quality", nowhere, nowhere, "auto and standard say nothing; it is the model's: choose another one, or image_size", openImagesPage, false},
	{"style", nowhere, nowhere, "say it in the prompt", openImagesPage, false},
	{"background", nowhere, nowhere, "auto and opaque say nothing; transparent is not there", openImagesPage, false},
	{"output_format", embedPlace{translate, "parameters.outputOptions.mimeType"}, embedPlace{translate, "generationConfig.imageConfig.imageOutputOptions.mimeType"},
		"png or jpeg; anything else is an error", imagenPage, false},
	{"output_compression", embedPlace{translate, "parameters.outputOptions.compressionQuality"},
		embedPlace{translate, "generationConfig.imageConfig.imageOutputOptions.compressionQuality"}, "of jpeg; warned and left out for png", imagenPage, false},
	{"moderation", embedPlace{translate, "parameters.safetySetting"}, nowhere, "low is block_only_high; auto says nothing", imagenPage, false},
	{"response_format", here, here, "b64_json; url is a data URI, with a warning", openImagesPage, false},
	{"input_fidelity", nowhere, nowhere, "the models have no such switch", openImagesPage, false},
	{"partial_images", nowhere, nowhere, "images are not streamed", openImagesPage, false},
	{"stream", embedPlace{reject, ""}, embedPlace{reject, ""}, "images are not streamed", openImagesPage, false},
	{"negative_prompt", embedPlace{translate, "parameters.negativePrompt"}, nowhere, "warned and left out where the model takes none", imagenPage, false},
	{"seed", embedPlace{translate, "parameters.seed"}, embedPlace{translate, "generationConfig.seed"},
		"turns the watermark off, with a warning; further requests have the next numbers", imagenPage, false},
	{"storage_uri", embedPlace{translate, "parameters.storageUri"}, nowhere, "the answer has gs:// URLs", imagenPage, false},
	{"labels", embedPlace{translate, "labels"}, embedPlace{translate, "labels"}, "checked before sending; also those made from metadata", labelsPage, false},
	{"user", here, here, "metadata _user of the call, for observers and logs", labelsPage, false},

	// Members that the platform knows by that name.
	{"add_watermark", embedPlace{forward, "parameters.addWatermark"}, nowhere, "the platform's default is true", imagenPage, true},
	{"person_generation", embedPlace{translate, "parameters.personGeneration"}, embedPlace{translate, "generationConfig.imageConfig.personGeneration"},
		"dont_allow, allow_adult or allow_all, in any case", imagenPage, true},
	{"safety_setting", embedPlace{forward, "parameters.safetySetting"}, nowhere, "wins over moderation", imagenPage, true},
	{"language", embedPlace{forward, "parameters.language"}, nowhere, "of the prompt", imagenPage, true},
	{"enhance_prompt", embedPlace{forward, "parameters.enhancePrompt"}, nowhere, "the prompt that was made is revised_prompt", imagenPage, true},
	{"guidance_scale", embedPlace{forward, "parameters.guidanceScale"}, nowhere, "", imagenPage, true},
	{"include_rai_reason", embedPlace{forward, "parameters.includeRaiReason"}, nowhere, "true unless said otherwise: it is how filtered images are told", imagenPage, true},
	{"include_safety_attributes", embedPlace{forward, "parameters.includeSafetyAttributes"}, nowhere, "safety_attributes of an image, where compliance is not strict", imagenPage, true},
	{"edit_mode", embedPlace{forward, "parameters.editMode"}, nowhere, "EDIT_MODE_INPAINT_INSERTION where there is a mask", imagenEditPage, true},
	{"base_steps", embedPlace{forward, "parameters.editConfig.baseSteps"}, nowhere, "", imagenEditPage, true},
	{"mask_mode", embedPlace{translate, "instances.referenceImages.maskImageConfig.maskMode"}, nowhere,
		"MASK_MODE_BACKGROUND and others that need no mask", imagenEditPage, true},
	{"mask_dilation", embedPlace{translate, "instances.referenceImages.maskImageConfig.dilation"}, nowhere, "", imagenEditPage, true},
	{"parameters", embedPlace{forward, "parameters"}, nowhere, "members in the platform's own form; those above win", imagenPage, true},
	{"image_config", nowhere, embedPlace{forward, "generationConfig.imageConfig"}, "members in the platform's own form; those above win", imagePage, true},
	{"safety_settings", nowhere, embedPlace{forward, "safetySettings"}, "as in a chat completion", safetyPage, true},
	{"safety_identifier", nowhere, nowhere, "the platform has no end-user id", openImagesPage, true},
}

// at is what a method does with the member.
func (p *imageParam) at(m catalog.ImageMethod) embedPlace {
	if m == catalog.ImageContent {
		return p.content
	}
	return p.predict
}

// findImageParam returns the row of a member, in either case style.
func findImageParam(name string) *imageParam {
	for i := range imageParams {
		if p := &imageParams[i]; p.name == name || camel(p.name) == name {
			return p
		}
	}
	return nil
}
