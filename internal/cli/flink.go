package cli

import (
	"reflect"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/connect"
)

// ownConnectors are those that Flink does not have.
var ownConnectors = []string{"checksum", "nexmark", "script", "state"}

// ownTableFuncs are table functions that Flink does not have, and what they are.
var ownTableFuncs = map[string]string{
	"LATE":  "the late rows of a table or view",
	"STATE": "the state of an operator of a job",
}

// flinkDifferences lists what of a script Flink does not have or takes in
// another way: own options, own connectors, own table functions and forms of
// statements, standard input and output.
func flinkDifferences(stmts []ast.Statement) diag.List {
	var out diag.List
	for _, stmt := range stmts {
		eachPart(reflect.ValueOf(stmt), func(part any) { ownPart(&out, part) })
		switch st := stmt.(type) {
		case *ast.Set:
			if st.Key != nil {
				ownOption(&out, st.Key, knownOptions())
			}
		case *ast.CreateTable:
			ownTable(&out, st)
		}
	}
	return out
}

// eachPart calls f for all parts of a syntax tree: pointers to nodes, and
// structures.
func eachPart(v reflect.Value, f func(part any)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Pointer {
			f(v.Interface())
		}
		eachPart(v.Elem(), f)
	case reflect.Slice:
		for i := range v.Len() {
			eachPart(v.Index(i), f)
		}
	case reflect.Struct:
		f(v.Interface())
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachPart(v.Field(i), f)
			}
		}
	}
}

// ownPart looks at one node of a syntax tree.
func ownPart(out *diag.List, node any) {
	switch n := node.(type) {
	case ast.Hint:
		ownHint(out, &n)
	case *ast.TableFunc:
		name := strings.ToUpper(n.Call.FuncName())
		if what, own := ownTableFuncs[name]; own {
			out.Errorf(n.Call.Pos(), "Flink has no table function %s, %s", name, what)
		}
	case *ast.Explain:
		if slices.Contains(n.Details, "STATE") {
			out.Errorf(n.Pos(), "Flink has no EXPLAIN STATE")
		}
	case *ast.Call:
		if n.JSON != nil && n.Filter != nil {
			out.Errorf(n.Filter.Pos(), "Flink takes no FILTER behind %s", strings.ToUpper(n.FuncName()))
		}
	}
}

// ownHint looks at options that stand with a table in a query.
func ownHint(out *diag.List, h *ast.Hint) {
	for i := range h.Options {
		ownOption(out, h.Options[i].Key, connect.TableOptions())
	}
}

func ownOption(out *diag.List, key *ast.StringLit, options []format.Option) {
	for _, o := range options {
		if o.Own && (o.Name == key.Value || o.Pattern && strings.HasPrefix(key.Value, o.Name)) {
			out.Errorf(key.Pos(), "option %q does not exist in Flink: %s", key.Value, o.Doc)
			return
		}
	}
}

func ownTable(out *diag.List, t *ast.CreateTable) {
	options := connect.TableOptions()
	for _, o := range t.Options {
		switch o.Key.Value {
		case "connector":
			if slices.Contains(ownConnectors, o.Value.Value) {
				out.Errorf(o.Value.Pos(), "Flink has no connector %q", o.Value.Value)
				return
			}
			if d := connector.Lookup(o.Value.Value); d != nil {
				options = append(options, d.Options...)
			}
		case "format":
			if d := format.Lookup(o.Value.Value); d != nil {
				for _, f := range d.Options {
					f.Name = d.Name + "." + f.Name
					options = append(options, f)
				}
			}
		case "path":
			if o.Value.Value == "-" {
				out.Errorf(o.Value.Pos(), `'path' = '-' is standard input or output only in Millstream; Flink takes it as the name of a file`)
			}
		}
	}
	for _, o := range t.Options {
		ownOption(out, o.Key, options)
	}
}
