// SPDX-License-Identifier: BSD-3-Clause

// Counting the types that have a method of one name. Types that implement one interface count
// once there, since the interface names the method. Packages are parsed, not type-checked: a
// method is known by its name and the text of its parameters.
package policy

import (
	"go/ast"
	"go/types"
	"iter"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// methodNames are the methods and the interfaces of all packages. A type is named by its directory
// and its name.
type methodNames struct {
	// of a type: the signature of each method
	signatures map[string]map[string]string
	embedded   map[string][]string // of a type: the types in it that promote methods
	interfaces map[string]map[string]string
}

func newMethodNames() *methodNames {
	return &methodNames{map[string]map[string]string{}, map[string][]string{},
		map[string]map[string]string{}}
}

func (m *methodNames) addMethod(dir, receiver string, decl *ast.FuncDecl) {
	addSignature(m.signatures, dir+"."+receiver, decl.Name.Name, decl.Type)
}

// addTypes adds the interfaces and the structs of a declaration.
func (m *methodNames) addTypes(dir string, decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		spec, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		name := dir + "." + spec.Name.Name
		var fields *ast.FieldList
		switch of := spec.Type.(type) {
		case *ast.StructType:
			fields = of.Fields
		case *ast.InterfaceType:
			fields = of.Methods
		default:
			continue
		}
		for _, f := range fields.List {
			if len(f.Names) == 0 {
				m.embedded[name] = append(m.embedded[name], typeName(dir, f.Type))
			} else if fn, ok := f.Type.(*ast.FuncType); ok && isInterface(spec) {
				addSignature(m.interfaces, name, f.Names[0].Name, fn)
			}
		}
	}
}

func isInterface(spec *ast.TypeSpec) bool {
	_, ok := spec.Type.(*ast.InterfaceType)
	return ok
}

// typeName is the name of an embedded type. Of another package only the last element of its
// directory is known, which find completes.
func typeName(dir string, of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return typeName(dir, of.X)
	case *ast.SelectorExpr:
		return types.ExprString(of)
	}
	return dir + "." + types.ExprString(of)
}

func addSignature(to map[string]map[string]string, name, method string, fn *ast.FuncType) {
	if to[name] == nil {
		to[name] = map[string]string{}
	}
	to[name][method] = signature(fn.Params) + signature(fn.Results)
}

var qualifier = regexp.MustCompile(`\b\w+\.`)

// signature is the types of a list of parameters, without the names of packages.
func signature(list *ast.FieldList) string {
	if list == nil {
		return "()"
	}
	var all []string
	for _, f := range list.List {
		text := qualifier.ReplaceAllString(types.ExprString(f.Type), "")
		for range max(len(f.Names), 1) {
			all = append(all, text)
		}
	}
	return "(" + strings.Join(all, ",") + ")"
}

// methodOf is a method that a type has: its own, or that of a type embedded in it.
type methodOf struct{ owner, signature string }

// methodsOf adds the methods of a type, promoted ones included, to all. The outermost wins.
func (m *methodNames) methodsOf(name string, all map[string]methodOf, depth int) {
	for of := range m.typesNamed(name) {
		for _, table := range []map[string]map[string]string{m.signatures, m.interfaces} {
			for method, signature := range table[of] {
				if _, ok := all[method]; !ok {
					all[method] = methodOf{of, signature}
				}
			}
		}
		for _, e := range m.embedded[of] {
			if depth > 0 {
				m.methodsOf(e, all, depth-1)
			}
		}
	}
}

// typesNamed returns the types with a name: itself, or all of packages whose directory ends in it.
func (m *methodNames) typesNamed(name string) map[string]bool {
	found := map[string]bool{}
	for _, types := range []iter.Seq[string]{maps.Keys(m.signatures), maps.Keys(m.interfaces),
		maps.Keys(m.embedded)} {
		for of := range types {
			if of == name || filepath.Base(of) == name {
				found[of] = true
			}
		}
	}
	return found
}

// count returns, for each name of a method, the number of types that have it, where all that have
// it for one interface are one.
func (m *methodNames) count() map[string]int {
	const nested = 3 // embedded types in embedded types
	// of a method: the types that have it, and a name for the group of each
	owners := map[string]map[string]string{}
	for name, methods := range m.signatures {
		for method := range methods {
			if owners[method] == nil {
				owners[method] = map[string]string{}
			}
			owners[method][name] = name
		}
	}
	implementers := map[string]map[string]methodOf{}
	for _, name := range append(sortedKeys(m.signatures), sortedKeys(m.embedded)...) {
		if m.interfaces[name] == nil && implementers[name] == nil {
			implementers[name] = map[string]methodOf{}
			m.methodsOf(name, implementers[name], nested)
		}
	}
	for of := range m.interfaces {
		wanted := map[string]methodOf{}
		m.methodsOf(of, wanted, nested)
		for _, has := range implementers {
			if !implements(has, wanted) {
				continue
			}
			for method := range wanted {
				group := "interface " + wanted[method].owner
				join(owners[method], has[method].owner, group)
			}
		}
	}
	counts := map[string]int{}
	for method, of := range owners {
		groups := map[string]bool{}
		for _, group := range of {
			groups[group] = true
		}
		counts[method] = len(groups)
	}
	return counts
}

// join puts the group of a type into another one.
func join(groups map[string]string, name, into string) {
	old, ok := groups[name]
	if !ok {
		return
	}
	for of, group := range groups {
		if group == old {
			groups[of] = into
		}
	}
}

// implements tells whether the methods of a type are, among others, those of an interface.
func implements(has, wanted map[string]methodOf) bool {
	for method, w := range wanted {
		if h, ok := has[method]; !ok || h.signature != w.signature {
			return false
		}
	}
	return len(wanted) > 0
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
