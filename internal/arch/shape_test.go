package arch

import (
	"fmt"
	"go/ast"
)

// The budget. What outgrows it is two things; split it by topic.
const (
	maxFileLines     = 450
	maxFunctionLines = 90
)

// exception lets one breach of a rule pass.
type exception struct {
	rule, subject, reason string
}

// exceptions names what the rules let pass. A file that is one long table may
// join with the rule "file length".
var exceptions = []exception{
	{"panic", "providers/vertex/vertextest.abort", "net/http asks for it where a connection must break"},
	{"state", "providers/vertex/vertextest.definitions", "the embedded schema, parsed once and never changed"},
	{"state", "internal/alike.lexicon", "the tables, indexed once and never changed"},
	{"state", "internal/alike.votes", "the tables, indexed once and never changed"},
	{"state", "internal/jsonx.buffers", "scratch memory, wiped of meaning between uses"},
	{"state", "internal/answers.digests", "scratch memory, wiped of meaning between uses"},
}

// checkSizes measures files, and functions outside tests, in lines.
func checkSizes(all []*source) []finding {
	var out []finding
	for _, s := range all {
		if s.lines > maxFileLines {
			out = append(out, finding{"file length", s.path, s.path, fmt.Sprintf("%d lines, %d at most", s.lines, maxFileLines)})
		}
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
				text := fmt.Sprintf("%s has %d lines, %d at most", fn.Name.Name, n, maxFunctionLines)
				out = append(out, finding{"function length", s.dir + "." + fn.Name.Name, s.at(fn), text})
			}
		}
	}
	return out
}

// checkWords finds init functions everywhere and panics outside tests.
func checkWords(all []*source) []finding {
	var out []finding
	for _, s := range all {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, finding{"init", s.path, s.at(fn), "work at import time is hidden from the caller"})
			}
			if s.test {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && isName(call.Fun, "panic") {
					out = append(out, finding{"panic", s.dir + "." + fn.Name.Name, s.at(call), "return an error"})
				}
				return true
			})
		}
	}
	return out
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
