package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/sql/config"
)

// Reference returns the pages of docs/reference by file name: all that the
// program knows of its functions, connectors, formats, options and commands.
// They are written by `millstream docs` and never by hand.
func Reference() map[string]string {
	return map[string]string{
		"functions.md":  functionsPage(),
		"aggregates.md": aggregatesPage(),
		"connectors.md": connectorsPage(),
		"formats.md":    formatsPage(),
		"options.md":    optionsPage(),
		"commands.md":   commandsPage(),
	}
}

func newDocs() *cobra.Command {
	return &cobra.Command{
		Use:    "docs DIR",
		Short:  "write the reference pages",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			for name, text := range Reference() {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// page collects the text of one page.
type page struct{ strings.Builder }

func newPage(title, intro string) *page {
	p := &page{}
	fmt.Fprintf(p, "# %s\n\n%s\n\nThis page is made by `make docs` from the definitions in the code.\n", title, intro)
	return p
}

func (p *page) heading(level int, text string) {
	fmt.Fprintf(p, "\n%s %s\n", strings.Repeat("#", level), text)
}

func (p *page) text(s string) {
	if s = strings.TrimSpace(s); s != "" {
		fmt.Fprintf(p, "\n%s\n", s)
	}
}

// table prints rows of cells; the first row is the heading.
func (p *page) table(rows [][]string) {
	p.WriteByte('\n')
	for i, row := range rows {
		for _, cell := range row {
			p.WriteString("| " + inCell(cell) + " ")
		}
		p.WriteString("|\n")
		if i == 0 {
			p.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
}

// inCell keeps a text from ending its cell.
func inCell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// code sets a text in back-ticks, more of them if it has some itself.
func code(s string) string {
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

func functionsPage() string {
	p := newPage("Functions", "The scalar functions, by family. An example shows a call and what it gives: value and type, or an error.")
	families := map[string][]*fn.Def{}
	for _, d := range fn.All() {
		if !d.Internal {
			families[d.Family] = append(families[d.Family], d)
		}
	}
	for _, family := range sorted(families) {
		p.heading(2, capital(family))
		for _, d := range families[family] {
			p.heading(3, d.Name)
			p.text(code(d.Syntax))
			p.text(d.Doc)
			p.aliases(d.Aliases)
			rows := [][]string{{"example", "gives"}}
			for _, e := range d.Examples {
				rows = append(rows, []string{code(e.Expr), code(e.Want)})
			}
			p.examples(rows)
		}
	}
	return p.String()
}

func aggregatesPage() string {
	p := newPage("Aggregate functions", "They stand in a SELECT with GROUP BY or with a window. Each takes `DISTINCT` in front of its argument, and `FILTER (WHERE ...)` behind it.")
	for _, d := range fn.AllAggs() {
		p.heading(2, d.Name)
		p.text(code(d.Syntax))
		p.text(d.Doc)
		p.aliases(d.Aliases)
		rows := [][]string{{"call", "values of x", "gives"}}
		for _, e := range d.Examples {
			rows = append(rows, []string{code(e.Call), code(e.Type) + ": " + strings.Join(e.Rows, ", "), code(e.Want)})
		}
		p.examples(rows)
	}
	return p.String()
}

func (p *page) aliases(names []string) {
	if len(names) > 0 {
		p.text("Other names: " + strings.Join(names, ", ") + ".")
	}
}

func (p *page) examples(rows [][]string) {
	if len(rows) > 1 {
		p.table(rows)
	}
}

func connectorsPage() string {
	p := newPage("Connectors", "A table's `'connector'` option names one of these. Options marked *own* do not exist in Flink.")
	for _, d := range connector.All() {
		p.heading(2, d.Name)
		p.text(d.Doc)
		var can []string
		if d.NewSource != nil {
			can = append(can, "source")
		}
		if d.NewSink != nil {
			can = append(can, "sink")
		}
		line := "Use: " + strings.Join(can, ", ") + "."
		if d.Formats {
			line += " It needs a `'format'`."
		}
		p.text(line)
		p.options(d.Options, "")
		if len(d.Metadata) > 0 {
			rows := [][]string{{"metadata column", "type", "meaning"}}
			for _, m := range d.Metadata {
				rows = append(rows, []string{code(m.Key), code(m.Type.String()), m.Doc})
			}
			p.table(rows)
		}
	}
	return p.String()
}

func formatsPage() string {
	p := newPage("Formats", "A table's `'format'` option names one of these. Options marked *own* do not exist in Flink.")
	for _, d := range format.All() {
		p.heading(2, d.Name)
		p.text(d.Doc)
		p.options(d.Options, d.Name+".")
	}
	return p.String()
}

func optionsPage() string {
	p := newPage("Session options", "`SET 'name' = 'value';` changes one, and so does `-D name=value`. Options marked *own* do not exist in Flink. Other names are accepted, since scripts for Flink set many, and have no effect; `millstream check` lists them.")
	p.options(knownOptions(), "")
	return p.String()
}

func (p *page) options(options []format.Option, prefix string) {
	if len(options) == 0 {
		return
	}
	rows := [][]string{{"option", "value", "default", "meaning"}}
	for _, o := range options {
		name := code(prefix + o.Name)
		if o.Pattern {
			name = code(prefix + o.Name + "NAME")
		}
		if o.Own {
			name += " *own*"
		}
		def := code(o.Default)
		if o.Required {
			def = "must be given"
		}
		rows = append(rows, []string{name, valueForm(o), def, sentence(o.Doc)})
	}
	p.table(rows)
}

func valueForm(o format.Option) string {
	if o.Kind == format.Enum {
		return strings.Join(o.Values, ", ")
	}
	return o.Kind.String()
}

func commandsPage() string {
	p := newPage("Commands", "What `millstream` can be asked to do.")
	root := newRoot(&process{})
	p.text("Exit status: 0 done, or stopped cleanly; 1 the job failed; 2 the script or the command line is wrong; 3 the state or a target refuses (locked, damaged).")
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		p.heading(2, c.Name())
		p.text(code("millstream " + c.Use))
		p.text(c.Long)
		rows := [][]string{{"flag", "meaning"}}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand
			}
			kind, usage := pflag.UnquoteUsage(f)
			rows = append(rows, []string{code(strings.TrimSpace(name + " " + kind)), usage})
		})
		p.examples(rows)
	}
	return p.String()
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// knownOptions are the options of a session and of its jobs.
func knownOptions() []format.Option {
	out := slices.Clone(runtime.Options)
	for _, o := range config.Known() {
		if !slices.ContainsFunc(out, func(r format.Option) bool { return r.Name == o.Name }) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b format.Option) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// sentence gives a text a capital and a full stop.
func sentence(s string) string {
	s = capital(strings.TrimSpace(s))
	if s != "" && !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
