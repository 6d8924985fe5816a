package config

import (
	"bytes"
	_ "embed"
)

//go:embed config.schema.json
var schemaFile []byte

// Schema returns the JSON Schema of a config, of [draft 2020-12], for editors and
// other tools. It knows the names, types and ranges of the members; how members
// fit together, which targets there are and what a query's pattern means is left
// to [Parse]. The caller owns the bytes.
//
// [draft 2020-12]: https://json-schema.org/draft/2020-12
func Schema() []byte { return bytes.Clone(schemaFile) }
