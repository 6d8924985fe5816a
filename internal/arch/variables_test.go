package arch

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// checkVariables lets package variables be constants in all but name: tables,
// sentinels and compiled patterns, which nothing writes to.
func checkVariables(all []*source) []finding {
	var out []finding
	packages := map[string][]*source{}
	for _, s := range all {
		if s.test {
			continue
		}
		packages[s.dir] = append(packages[s.dir], s)
		for _, spec := range variableSpecs(s.file) {
			if name := spec.Names[0].Name; holdsState(spec) {
				out = append(out, finding{"state", s.dir + "." + name, s.at(spec), name + " holds state: give it an owner"})
			}
		}
	}
	for _, files := range packages {
		out = append(out, checkWrites(files)...)
	}
	return out
}

// variableSpecs returns the package variables of a file, without assertions on
// types and without what the toolchain embeds.
func variableSpecs(f *ast.File) []*ast.ValueSpec {
	var out []*ast.ValueSpec
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR || embeds(g.Doc) {
			continue
		}
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && v.Names[0].Name != "_" && !embeds(v.Doc) {
				out = append(out, v)
			}
		}
	}
	return out
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && strings.HasPrefix(doc.List[len(doc.List)-1].Text, "//go:embed ")
}

// holdsState reports whether a declaration makes something to be changed later:
// a lock, an atomic, a pool, a channel, an empty map or a zero value.
func holdsState(spec *ast.ValueSpec) bool {
	found := len(spec.Values) == 0
	for _, e := range spec.Values {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false // what it makes, it makes anew at each call
			case *ast.ChanType:
				found = true
			case *ast.SelectorExpr:
				found = found || isName(n.X, "sync") || isName(n.X, "atomic")
			case *ast.CallExpr:
				found = found || isName(n.Fun, "make") || isName(n.Fun, "new")
			case *ast.CompositeLit:
				_, isMap := n.Type.(*ast.MapType)
				found = found || isMap && len(n.Elts) == 0
			}
			return !found
		})
	}
	return found
}

// noImports keeps the type checker inside one package: names from elsewhere stay
// unknown, and its own are resolved all the same.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) {
	return nil, errors.New("not looked at")
}

// checkWrites finds statements of a package that change one of its variables.
func checkWrites(files []*source) []finding {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	cfg := types.Config{Importer: noImports{}, Error: func(error) {}}
	asts := make([]*ast.File, len(files))
	for i, s := range files {
		asts[i] = s.file
	}
	// The error is that names of the imports are unknown.
	pkg, _ := cfg.Check(files[0].dir, files[0].fset, asts, &info)
	w := writes{pkg: pkg, uses: info.Uses}
	for _, s := range files {
		w.s = s
		ast.Inspect(s.file, w.visit)
	}
	return w.found
}

// writes collects the findings of one package.
type writes struct {
	pkg   *types.Package
	uses  map[*ast.Ident]types.Object
	s     *source
	found []finding
}

func (w *writes) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			w.targets(n.Lhs...)
		}
	case *ast.IncDecStmt:
		w.targets(n.X)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			w.targets(n.Key, n.Value)
		}
	case *ast.CallExpr:
		for _, name := range []string{"clear", "copy", "delete"} {
			if isName(n.Fun, name) {
				w.targets(n.Args[0])
			}
		}
	}
	return true
}

// targets reports those expressions that lead into a package variable.
func (w *writes) targets(list ...ast.Expr) {
	for _, e := range list {
		id := base(e)
		if id == nil {
			continue
		}
		if v, ok := w.uses[id].(*types.Var); ok && w.pkg.Scope().Lookup(v.Name()) == v {
			w.found = append(w.found, finding{"state", w.s.dir + "." + v.Name(), w.s.at(id), v.Name() + " is changed: give it an owner"})
		}
	}
}

// base returns the variable that an expression is a part of.
func base(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}
