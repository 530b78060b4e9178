package cli

import (
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// ownConnectors are those that Flink does not have.
var ownConnectors = []string{"checksum", "nexmark", "script"}

// flinkDifferences lists what of a script Flink does not have or takes in
// another way: own options, own connectors, standard input and output.
func flinkDifferences(stmts []ast.Statement) diag.List {
	var out diag.List
	for _, stmt := range stmts {
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

func ownOption(out *diag.List, key *ast.StringLit, options []format.Option) {
	for _, o := range options {
		if o.Own && (o.Name == key.Value || o.Pattern && strings.HasPrefix(key.Value, o.Name)) {
			out.Errorf(key.Pos(), "option %q does not exist in Flink: %s", key.Value, o.Doc)
			return
		}
	}
}

func ownTable(out *diag.List, t *ast.CreateTable) {
	var options []format.Option
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
