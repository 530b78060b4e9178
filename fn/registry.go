package fn

import (
	"fmt"
	"slices"
	"strings"
)

// registry maps upper-case names, aliases included, to definitions. It is
// filled by init functions and read-only afterwards.
var registry = struct {
	scalar map[string]*Def
	agg    map[string]*AggDef
}{scalar: map[string]*Def{}, agg: map[string]*AggDef{}}

// Register adds scalar functions under their names and aliases. It is called
// from init functions, and panics on a name that is taken or empty.
func Register(defs ...*Def) {
	for _, d := range defs {
		if d.Bind == nil {
			panic(fmt.Sprintf("fn: %q has no Bind", d.Name))
		}
		enter(registry.scalar, d, append([]string{d.Name}, d.Aliases...))
	}
}

// RegisterAgg adds aggregate functions under their names and aliases. It is
// called from init functions, and panics on a name that is taken or empty.
func RegisterAgg(defs ...*AggDef) {
	for _, d := range defs {
		if d.Bind == nil {
			panic(fmt.Sprintf("fn: %q has no Bind", d.Name))
		}
		enter(registry.agg, d, append([]string{d.Name}, d.Aliases...))
	}
}

func enter[D any](m map[string]D, d D, names []string) {
	for _, n := range names {
		if n == "" || n != strings.ToUpper(n) {
			panic(fmt.Sprintf("fn: %q is not an upper-case name", n))
		}
		if _, taken := m[n]; taken {
			panic(fmt.Sprintf("fn: %q is registered twice", n))
		}
		m[n] = d
	}
}

// Lookup returns the scalar function of that name or alias, in any case, or
// nil. Internal functions (operators) are found as well; the binder tells them
// apart by Def.Internal.
func Lookup(name string) *Def { return registry.scalar[strings.ToUpper(name)] }

// LookupAgg returns the aggregate function of that name or alias, in any case,
// or nil.
func LookupAgg(name string) *AggDef { return registry.agg[strings.ToUpper(name)] }

// All returns every scalar function once, ordered by name.
func All() []*Def {
	return all(registry.scalar, func(d *Def) string { return d.Name })
}

// AllAggs returns every aggregate function once, ordered by name.
func AllAggs() []*AggDef {
	return all(registry.agg, func(d *AggDef) string { return d.Name })
}

func all[D any](m map[string]D, name func(D) string) []D {
	out := make([]D, 0, len(m))
	for n, d := range m {
		if n == name(d) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b D) int { return strings.Compare(name(a), name(b)) })
	return out
}

// Names returns the names and aliases of all functions that a query can call,
// scalar and aggregate, in order; the binder suggests from them.
func Names() []string {
	var out []string
	for n, d := range registry.scalar {
		if !d.Internal {
			out = append(out, n)
		}
	}
	for n := range registry.agg {
		if registry.scalar[n] == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
