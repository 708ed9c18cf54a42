// SPDX-License-Identifier: BSD-3-Clause

// What a mutex guards is said where it is declared, not shown by a blank line.
package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestMutexesSayWhatTheyGuard checks that each mutex of a structure has a comment.
func TestMutexesSayWhatTheyGuard(t *testing.T) {
	seen := 0
	for _, s := range sources(t) {
		if kindOf(s.path) != product || !strings.HasSuffix(s.path, ".go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, s.path, s.text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok || !isMutex(f.Type) || len(f.Names) == 0 {
				return true
			}
			seen++
			if f.Comment == nil && f.Doc == nil {
				t.Errorf("%s:%d: %s does not say what it guards", s.path,
					set.Position(f.Pos()).Line, f.Names[0])
			}
			return true
		})
	}
	if seen < 50 {
		t.Errorf("only %d mutexes were found", seen)
	}
}

func isMutex(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return ok && pkg.Name == "sync" && (s.Sel.Name == "Mutex" || s.Sel.Name == "RWMutex")
}
