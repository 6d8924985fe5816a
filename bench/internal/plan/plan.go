// Package plan is the list of what is measured: which library does which workload.
// The benchmarks, the command that runs them and the page go by it, so that a
// benchmark which was not run is a fault and not a gap.
package plan

import "slices"

// Group is one function of benchmarks. Its rows are run in turn, each in a process
// of its own, so that none inherits another's heap, pools or goroutines.
type Group struct {
	// Name is the group's part of the page, and of the file with the raw results.
	Name string
	// Bench is the name of the function.
	Bench string
	// Key is the name of what is measured in the names of benchmarks, as in
	// /workload=small/lib=gateway.
	Key string
	// Rows are what is measured.
	Rows []Row
}

// Row is one workload with the libraries that do it.
type Row struct {
	// Name is the workload's.
	Name string
	// Libs are the libraries that can do it, ours first.
	Libs []string
	// Parallel says that all processors are used; the others have one.
	Parallel bool
	// Long says that it is only run when asked for.
	Long bool
}

// The libraries, by the names of their modules.
const (
	Gateway   = "gateway"
	Floor     = "floor"
	FloorJSON = "floor+json"
	GenAI     = "go-genai"
	OpenAI    = "openai-go"
	GoOpenAI  = "go-openai"
	AnyLLM    = "any-llm-go"
	Eino      = "eino-gemini"
	LangChain = "langchaingo"
	Bifrost   = "bifrost"
)

// Groups returns what is measured.
func Groups() []Group {
	all := []string{Gateway, Floor, FloorJSON, GenAI, OpenAI, GoOpenAI, AnyLLM, Eino, LangChain}
	// The component of eino-ext for Gemini has no images within the request, and
	// that for embeddings is another one, which speaks no Gemini.
	most := slices.DeleteFunc(slices.Clone(all), func(lib string) bool { return lib == Eino })
	wire := []string{Gateway, Floor, GenAI, OpenAI, Bifrost}
	cached := []string{Gateway, LangChain}
	parsers := []string{Gateway, "strconv", "sonic", "encoding_json"}
	ours := []string{"gateway_in_1", "gateway_in_8", "gateway_in_1000"}
	return []Group{
		{Name: "memory", Bench: "BenchmarkMemory", Key: "workload", Rows: []Row{
			{Name: "small", Libs: all}, {Name: "bigresp", Libs: all}, {Name: "conv40", Libs: all}, {Name: "image1m", Libs: most},
			{Name: "stream1000", Libs: all}, {Name: "embed768", Libs: most}, {Name: "parallel", Libs: all, Parallel: true},
		}},
		{Name: "cache", Bench: "BenchmarkCache", Key: "workload", Rows: []Row{{Name: "small", Libs: cached}, {Name: "conv40", Libs: cached}}},
		{Name: "loopback", Bench: "BenchmarkLoopback", Key: "workload", Rows: []Row{
			{Name: "small", Libs: wire, Parallel: true}, {Name: "conv40", Libs: wire, Parallel: true}, {Name: "stream1000", Libs: wire, Parallel: true},
		}},
		{Name: "vectors", Bench: "BenchmarkVectors", Key: "form", Rows: []Row{{Name: "shortest", Libs: parsers}, {Name: "widened", Libs: parsers}}},
		{Name: "search", Bench: "BenchmarkSearch", Key: "entries", Rows: []Row{
			{Name: "1000", Libs: append(slices.Clone(ours), "chromem-go", "coder-hnsw")},
			{Name: "10000", Libs: append(slices.Clone(ours), "chromem-go", "coder-hnsw")},
			{Name: "100000", Libs: append(slices.Clone(ours), "chromem-go")},
			{Name: "1000000", Libs: ours, Long: true},
		}},
	}
}

// Find returns the group of that name; an unknown one has no rows.
func Find(name string) Group {
	for _, g := range Groups() {
		if g.Name == name {
			return g
		}
	}
	return Group{}
}

// Libs returns the libraries of all rows, each once, in their order.
func (g *Group) Libs() []string {
	var out []string
	for _, row := range g.Rows {
		for _, lib := range row.Libs {
			if !slices.Contains(out, lib) {
				out = append(out, lib)
			}
		}
	}
	return out
}
