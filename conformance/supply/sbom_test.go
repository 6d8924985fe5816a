package supply_test

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// released is the environment variable that names a directory for bills of the
// programs as built here: with the standard library of this toolchain and the hash
// of the binary.
const released = "GATEWAY_SBOM_DIR"

// sumProperty holds the line of go.sum. It is the hash of a list of hashes, which
// the hashes of a component, made of a file, are not.
const sumProperty = "go.sum:h1"

// TestSBOM makes the bill of all that is shipped and compares it with docs/sbom; -update
// writes it there.
func TestSBOM(t *testing.T) {
	asked(t)
	schema := compileSchema(t)
	for _, s := range everything {
		t.Run(s.name, func(t *testing.T) {
			modules := linked(t, s)
			have := encode(t, bill(t, s, modules))
			validate(t, schema, have)
			if s.program {
				binary := build(t, s)
				compareBuilt(t, binary, modules)
				writeReleased(t, schema, s, modules, binary)
			}
			compareKept(t, s.name, have)
		})
	}
	keptOnly(t)
}

// purl is the package URL of a module, without a version for one of this repository,
// which has none before it is tagged.
func purl(m *module) string {
	if v := version(m); v != "" {
		return "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(v, "+", "%2B") + "?type=module"
	}
	return "pkg:golang/" + m.Path + "?type=module"
}

func version(m *module) string {
	if m.isOwn() {
		return ""
	}
	return m.Version
}

// component describes one module.
func component(t *testing.T, m *module, kind cdx.ComponentType) cdx.Component {
	t.Helper()
	c := cdx.Component{BOMRef: purl(m), Type: kind, Name: m.Path, Version: version(m), PackageURL: purl(m)}
	if m.isOwn() {
		return c
	}
	ids, err := licences(m, map[string]bool{})
	if err != nil {
		t.Error(err)
	}
	c.Licenses = &cdx.Licenses{{Expression: strings.Join(ids, " AND ")}}
	c.Properties = &[]cdx.Property{{Name: sumProperty, Value: m.Sum}}
	if m.Sum == "" {
		t.Errorf("%s@%s has no sum", m.Path, m.Version)
	}
	return c
}

// bill is what is linked, with which module imports which.
func bill(t *testing.T, s shipped, modules map[string]*module) *cdx.BOM {
	t.Helper()
	var components []cdx.Component
	var dependencies []cdx.Dependency
	subject := mainModule(t, s, modules)
	top := component(t, subject, cdx.ComponentTypeLibrary)
	if s.program {
		top.Type, top.Name = cdx.ComponentTypeApplication, own+"/"+s.dir
	}
	for _, m := range sorted(modules) {
		if m != subject {
			components = append(components, component(t, m, cdx.ComponentTypeLibrary))
		}
		uses := []string{}
		for _, path := range slices.Sorted(maps.Keys(m.uses)) {
			uses = append(uses, purl(modules[path]))
		}
		dependencies = append(dependencies, cdx.Dependency{Ref: purl(m), Dependencies: &uses})
	}
	bom := cdx.NewBOM()
	bom.SpecVersion, bom.JSONSchema = cdx.SpecVersion1_6, "http://cyclonedx.org/schema/bom-1.6.schema.json"
	bom.Metadata = &cdx.Metadata{Component: &top}
	bom.Components, bom.Dependencies = &components, &dependencies
	return bom
}

// mainModule returns the module that is shipped, or whose program is.
func mainModule(t *testing.T, s shipped, modules map[string]*module) *module {
	t.Helper()
	var best *module
	for _, m := range modules {
		path := own + "/" + s.dir
		if s.dir == "." {
			path = own
		}
		if (m.Path == path || strings.HasPrefix(path, m.Path+"/")) && (best == nil || len(m.Path) > len(best.Path)) {
			best = m
		}
	}
	if best == nil {
		t.Fatalf("%s: its own module is not among what it links", s.name)
	}
	return best
}

// encode writes a bill, whose serial number comes from what it says: the same bill
// has the same bytes.
func encode(t *testing.T, bom *cdx.BOM) []byte {
	t.Helper()
	write := func() []byte {
		var b bytes.Buffer
		e := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
		if err := e.EncodeVersion(bom, bom.SpecVersion); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	bom.SerialNumber = ""
	sum := sha256.Sum256(write())
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // a UUID of version 8, RFC 9562
	bom.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	return write()
}

func compareKept(t *testing.T, name string, have []byte) {
	t.Helper()
	path := filepath.Join(root, "docs", "sbom", name+".cdx.json")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, have, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(kept), string(have)); diff != "" {
		t.Errorf("%s is another than what is linked; go -C conformance/supply test -run SBOM . -update (-kept +linked):\n%s", path, diff)
	}
}

// keptOnly fails for a file of something that is no longer shipped.
func keptOnly(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "docs", "sbom"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.ContainsFunc(everything, func(s shipped) bool { return s.name+".cdx.json" == e.Name() }) {
			t.Errorf("docs/sbom/%s: there is no such thing, remove the file", e.Name())
		}
	}
}

// build makes a program as it is released.
func build(t *testing.T, s shipped) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), s.name)
	run(t, filepath.Join(root, s.dir), "build", "-trimpath", "-ldflags=-s -w", "-o", binary, ".")
	return binary
}

// compareBuilt compares what go list says with what the linker wrote into the
// program.
func compareBuilt(t *testing.T, binary string, modules map[string]*module) {
	t.Helper()
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	want, have := map[string]string{}, map[string]string{}
	for _, m := range modules {
		if m.Path != info.Main.Path {
			have[m.Path] = version(m) + " " + m.Sum
		}
	}
	for _, d := range info.Deps {
		v := d.Version
		if d.Replace != nil {
			v = ""
		}
		want[d.Path] = v + " " + d.Sum
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("the bill is another than what was linked (-built +listed):\n%s", diff)
	}
}

// writeReleased writes the bill of the program as built, where one is asked for.
func writeReleased(t *testing.T, schema *jsonschema.Schema, s shipped, modules map[string]*module, binary string) {
	t.Helper()
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	bom := bill(t, s, modules)
	bom.Metadata.Component.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(text))}}
	release := strings.TrimPrefix(info.GoVersion, "go")
	std := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: "std", Version: release, PackageURL: "pkg:golang/std@" + release + "?type=module"}
	std.BOMRef, std.Licenses = std.PackageURL, &cdx.Licenses{{Expression: "BSD-3-Clause"}}
	*bom.Components = append(*bom.Components, std)
	for i := range *bom.Dependencies {
		uses := append(*(*bom.Dependencies)[i].Dependencies, std.BOMRef)
		(*bom.Dependencies)[i].Dependencies = &uses
	}
	*bom.Dependencies = append(*bom.Dependencies, cdx.Dependency{Ref: std.BOMRef, Dependencies: &[]string{}})
	have := encode(t, bom)
	validate(t, schema, have)
	dir := os.Getenv(released)
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, s.name+".cdx.json"), have, 0o600); err != nil {
		t.Error(err)
	}
}

// compileSchema reads the schema of CycloneDX 1.6 that comes with the module that
// writes the bills.
func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir := filepath.Join(strings.TrimSpace(run(t, ".", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")), "schema")
	c := jsonschema.NewCompiler()
	for id, file := range map[string]string{
		"http://cyclonedx.org/schema/bom-1.6.schema.json":  "bom-1.6.schema.json",
		"http://cyclonedx.org/schema/spdx.schema.json":     "spdx.schema.json",
		"http://cyclonedx.org/schema/jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(id, doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, text []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
}

// TestTheSchemaRefuses shows that a bill can be wrong.
func TestTheSchemaRefuses(t *testing.T) {
	schema := compileSchema(t)
	for _, text := range []string{
		`{"bomFormat":"CycloneDX"}`,
		`{"bomFormat":"CycloneDX","specVersion":"1.6","serialNumber":"urn:uuid:1"}`,
		`{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"type":"module","name":"m"}]}`,
		`{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"type":"library","name":"m","licenses":[{"license":{"id":"Mine"}}]}]}`,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil || !json.Valid([]byte(text)) {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("%s passes", text)
		}
	}
}
