package bind

import (
	"slices"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/internal/sql/ast"
	"github.com/millstream-io/millstream/internal/sql/plan"
	"github.com/millstream-io/millstream/types"
)

// maxGroupingSets bounds how often a row may be passed on.
const maxGroupingSets = 4096

// groupItem binds an item of GROUP BY and returns the sets of keys that it stands for; nil means that an error was reported.
func (g *grouping) groupItem(it *ast.GroupItem) [][]int {
	switch it.Kind {
	case ast.GroupExpr, ast.GroupSet:
		set := []int{}
		ok := true
		for _, e := range it.Exprs {
			i, good := g.bindKey(e)
			if ok = ok && good; ok && i >= 0 && !slices.Contains(set, i) {
				set = append(set, i)
			}
		}
		if !ok {
			return nil
		}
		return [][]int{set}
	}
	parts := make([][][]int, len(it.Items))
	ok := true
	for i := range it.Items {
		parts[i] = g.groupItem(&it.Items[i])
		ok = ok && parts[i] != nil
	}
	if !ok {
		return nil
	}
	var out [][]int
	switch it.Kind {
	case ast.GroupingSets:
		for _, p := range parts {
			out = append(out, p...)
		}
	case ast.Rollup:
		for n := len(parts); n >= 0; n-- {
			out = append(out, union(parts[:n]))
		}
	default: // CUBE
		if len(parts) > 12 {
			g.b.errorf(it.Pos(), "CUBE of %d parts has more than %d grouping sets", len(parts), maxGroupingSets)
			return nil
		}
		for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
			var some [][][]int
			for i, p := range parts {
				if mask>>(len(parts)-1-i)&1 == 1 {
					some = append(some, p)
				}
			}
			out = append(out, union(some))
		}
	}
	return out
}

// union puts sets together, each of which is the only one of its item.
func union(items [][][]int) []int {
	out := []int{}
	for _, sets := range items {
		out = join(out, sets[0])
	}
	return out
}

func join(a, b []int) []int {
	out := slices.Clone(a)
	for _, k := range b {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// product combines each set of a with each of b.
func product(a, b [][]int) [][]int {
	var out [][]int
	for _, x := range a {
		for _, y := range b {
			out = append(out, join(x, y))
		}
	}
	return out
}

// expand puts the grouping sets below an aggregation, if there are several or if one lacks a key. Keys that are not in all
// sets become copies, so that the arguments of aggregates keep their values.
func (g *grouping) expand(agg *plan.Aggregate) {
	if len(g.sets) == 0 || len(g.sets) == 1 && len(g.sets[0]) == len(g.keys) {
		g.sets = nil
		return
	}
	var copies, keys []int
	for k := range g.keys {
		everywhere := true
		for _, set := range g.sets {
			everywhere = everywhere && slices.Contains(set, k)
		}
		if !everywhere {
			copies, keys = append(copies, agg.Keys[k]), append(keys, k)
		}
	}
	sets := make([][]bool, len(g.sets))
	for i, set := range g.sets {
		for _, k := range keys {
			sets[i] = append(sets[i], slices.Contains(set, k))
		}
	}
	width := len(agg.Input.Schema().Fields)
	e := plan.NewExpand(agg.Input, copies, sets)
	agg.Input = e
	for i, k := range keys {
		agg.Keys[k] = width + i
		agg.Out.Fields[k] = e.Out.Fields[width+i]
	}
	set := len(e.Out.Fields) - 1
	agg.Keys = append(agg.Keys, set)
	agg.Out.Fields = append(agg.Out.Fields, e.Out.Fields[set])
}

// groupingOf resolves GROUPING, GROUPING_ID and GROUP_ID: their value depends on the grouping set alone.
func (g *grouping) groupingOf(agg *plan.Aggregate, r *groupRef) expr.Expr {
	var keys []int
	for _, a := range r.args {
		i := slices.IndexFunc(g.keys, func(k expr.Expr) bool { return plan.Same(k, a) })
		if i < 0 {
			g.b.errorf(r.pos, "the arguments of GROUPING must be keys of GROUP BY, but %s is none", a)
			return nil
		}
		keys = append(keys, i)
	}
	if g.sets == nil {
		return expr.BigInt(0)
	}
	last := len(agg.Keys) - 1
	f := agg.Out.Fields[last]
	set := expr.NewCol(last, f.Name, f.Type)
	out := &expr.Case{Typ: types.Of(types.BigInt).NotNull()}
	for i := range g.sets {
		value := expr.BigInt(g.groupingValue(i, keys, r.groupID))
		if i == len(g.sets)-1 {
			out.Else = value
			break
		}
		is := g.b.applyNamed(r.pos, "=", []diag.Pos{r.pos, r.pos}, set, expr.BigInt(int64(i)))
		if is == nil {
			return nil
		}
		out.When, out.Then = append(out.When, is), append(out.Then, value)
	}
	if len(out.When) == 0 {
		return out.Else
	}
	return out
}

// groupingValue has a bit for each key that set i lacks, the first key in the highest one; for GROUP_ID it is how many equal
// sets come before.
func (g *grouping) groupingValue(i int, keys []int, groupID bool) int64 {
	var v int64
	if groupID {
		sorted := func(s []int) []int { return slices.Sorted(slices.Values(s)) }
		for _, other := range g.sets[:i] {
			if slices.Equal(sorted(other), sorted(g.sets[i])) {
				v++
			}
		}
		return v
	}
	for _, k := range keys {
		v <<= 1
		if !slices.Contains(g.sets[i], k) {
			v |= 1
		}
	}
	return v
}
