// Package prompts is a library of stored prompts: chat completions with templates
// in their messages, in versions that never change. A client uses them by name:
//
//	//go:embed *.json partials
//	var files embed.FS
//
//	store, err := prompts.FromFS(files)
//	if err != nil { … }
//	client, err := gateway.New(gateway.WithPrompts(prompts.New(store)))
//	if err != nil { … }
//	answer, err := client.Prompts.Completions.Create(ctx, &gateway.PromptCompletionRequest{
//		ID:        "welcome@production",
//		Variables: map[string]any{"name": "Ada"},
//	})
//
// Over HTTP they are POST /v1/prompts/{id}/completions and
// POST /v1/prompts/{id}/render of gateway.Client.Handler.
//
// # Files
//
//	{
//	  "description": "Greets a new user.",
//	  "default": 1,
//	  "labels": {"production": 1, "staging": 2},
//	  "versions": {
//	    "1": {
//	      "description": "the first",
//	      "request": {
//	        "model": "gemini-2.5-flash",
//	        "temperature": 0.2,
//	        "messages": [
//	          {"role": "system", "content": "You are kind. {{> tone}}"},
//	          {"placeholder": "history"},
//	          {"role": "user", "content": "Greet {{user.name}}{{#city}} from {{.}}{{/city}}."}
//	        ]
//	      }
//	    },
//	    "2": {"request": {…}}
//	  }
//	}
//
// A request is the body of a chat completion, with all that one may have. Templates
// are read in its messages: in a content that is a string, in the text of parts,
// and in the URLs, data and names of their media. Elsewhere, as in tools, calls of
// tools and schemas, {{ is text. An entry with a placeholder stands for the
// messages that the variable of that name lists, none of which may be system or
// developer; null stands for none.
//
// Decoding is strict: an unknown member is an error with its path. Within a
// request and its messages that goes for what is nearly a member of the schema;
// other members are extensions, and the answer's warnings tell of those that the
// platform does not know.
//
// # References
//
// "welcome" is the default version, or the highest where the prompt names none;
// "welcome@2" is a version, "welcome@production" a label, and "welcome@latest" the
// highest version.
//
// # Templates
//
// They are Mustache, without HTML escaping:
//
//   - {{name}}, {{{name}}} and {{&name}} put a value in: a string as it is, a number
//     as it was written, true or false, nothing for null, and a list or an object as
//     its JSON. {{user.name}} goes into objects.
//   - {{#name}}…{{/name}} is for each element of a list, and once for any other value
//     except null, false, 0, "" and one that is not given. Inside, the members of the
//     element or the object go before those around, and {{.}} is itself.
//   - {{^name}}…{{/name}} is for when {{#name}} is not.
//   - {{> name}} takes a partial in, {{! text}} is a comment, and {{=<% %>=}} sets other
//     delimiters, for text in which {{ is meant as it is.
//
// A tag that puts nothing out and has its line for itself vanishes with the line.
// There are no lambdas, dynamic names or inheritance.
//
// # Variables
//
// A value that a tag puts in and that is not given is an error, found for the
// branches that are rendered, and naming all of them. A section may ask for what is
// not given. A variable that no tag names is left out with a warning.
//
// Values are never read as templates or as JSON of the request: whatever a variable
// holds, it stays within the text that its tag stands in. Only a placeholder lets
// messages in.
//
// # Limits
//
// A prompt and a partial have at most 16 MiB, a rendered prompt 32 MiB and about a
// million pieces. Sections are nested, and partials within each other, at most 100
// deep; a partial within itself is an error when the prompt is read.
package prompts
