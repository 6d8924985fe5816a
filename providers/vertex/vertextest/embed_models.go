package vertextest

import "strings"

// embedFacts is what one model that embeds is known for.
type embedFacts struct {
	publisher, name string
	verb            string // predict, or embedContent with its batches
	where           placement
	dims            int   // the default, and the most
	least           int   // 0 when sizes counts
	sizes           []int // the only lengths there are
	inputTokens     int   // what is more is cut
	requestTokens   int   // of all inputs; 0 for no limit
	instances       int   // of one request
	media           bool  // also embeds media
	own             bool  // gives each medium a vector of its own
	untasked        bool  // knows no task types
	uncut           bool  // has no autoTruncate
	leavesShort     bool  // reduced vectors are cut, and stay short of unit length
	widened         bool  // prints floats of 32 bits with the digits of 64
}

// embedTable lists the models that embed, one row each. For gemini-embedding-001
// the pages say both 250 instances and 1: see [WithMaxInstances].
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings,
// https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-multimodal-embeddings and
// https://cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/embedding-2
func embedTable() []embedFacts {
	text := embedFacts{
		publisher: "google", verb: "predict", dims: 768, least: 1, inputTokens: 2048, requestTokens: 20_000, instances: 250, widened: true,
	}
	named := func(f embedFacts, name string) embedFacts {
		f.name = name
		return f
	}
	large := named(text, "gemini-embedding-001")
	large.dims, large.leavesShort = 3072, true
	return []embedFacts{
		named(text, "text-embedding-004"), named(text, "text-embedding-005"), named(text, "text-multilingual-embedding-002"), large,
		{
			publisher: "google", name: "gemini-embedding-2", verb: "embedContent", where: multiRegion, dims: 3072, least: 128,
			inputTokens: 8192, instances: 100, media: true, untasked: true,
		},
		{
			publisher: "google", name: "multimodalembedding", verb: "predict", dims: 1408, sizes: []int{128, 256, 512, 1408},
			inputTokens: 32, instances: 1, media: true, own: true, untasked: true, uncut: true, widened: true,
		},
		{publisher: "intfloat", name: "multilingual-e5-small-maas", verb: "embedContent", dims: 384, least: 1, inputTokens: 512, instances: 1},
		{publisher: "intfloat", name: "multilingual-e5-large-instruct-maas", verb: "embedContent", dims: 1024, least: 1, inputTokens: 512, instances: 1},
	}
}

// WithMaxInstances sets how many inputs one request for embeddings may have.
// Without names it is for all models.
func WithMaxInstances(n int, models ...string) Option {
	return func(c *config) { c.instances = append(c.instances, instanceLimit{n, forModels(models)}) }
}

// instanceLimit is the limit of an option.
type instanceLimit struct {
	most   int
	models forModels
}

// findEmbedder looks up the model of the request for its verb.
func (x *exchange) findEmbedder() (embedFacts, error) {
	verb := x.target.verb
	if verb == "batchEmbedContents" {
		verb = "embedContent"
	}
	name, _, _ := strings.Cut(x.target.model, "@")
	for _, f := range embedTable() {
		rest, ok := strings.CutPrefix(name, f.name)
		if !ok || rest != "" && !versionSuffix.MatchString(rest) || f.publisher != x.target.publisher || !f.where.serves(x.target.location) {
			continue
		}
		if x.target.direct && strings.HasPrefix(f.name, "gemini-") {
			f = directEmbedder(f)
		}
		if f.verb != verb {
			return f, invalid("%s is not supported for model %s.", x.target.verb, x.target.model)
		}
		for _, limit := range x.cfg.instances {
			if limit.models.include(x.target.model, f.name) {
				f.instances = limit.most
			}
		}
		return f, nil
	}
	return embedFacts{}, notFound(x.target)
}
