package plan

import (
	"slices"

	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/types"
)

// Keys returns sets of columns no two rows of the node's result agree on, each ascending.
func Keys(n Node) [][]int {
	switch n := n.(type) {
	case *Scan:
		return scanKeys(n)
	case *Project:
		return projectKeys(n)
	case *Aggregate:
		return [][]int{upTo(len(n.Keys))}
	case *WindowAggregate:
		return windowKeys(n)
	case *Values:
		if len(n.Rows) <= 1 {
			return [][]int{{}}
		}
		return nil
	case *Union, *Expand, *Late:
		return nil
	case *Join:
		return joinKeys(n)
	case *Rank:
		return rankKeys(n)
	case *WindowTVF:
		if n.Window.Kind == Hop || n.Window.Kind == Cumulate {
			return nil // a row for each window
		}
		return Keys(n.Input)
	}
	return Keys(n.Inputs()[0])
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func scanKeys(n *Scan) [][]int {
	if n.Table.PrimaryKey == nil {
		return nil
	}
	var key []int
	for _, name := range n.Table.PrimaryKey.Columns {
		i := n.Fields.Index(name)
		if i < 0 {
			return nil
		}
		key = append(key, i)
	}
	slices.Sort(key)
	return [][]int{key}
}

// projectKeys keeps the keys whose columns are passed on.
func projectKeys(n *Project) [][]int {
	at := map[int]int{}
	for i, e := range n.Exprs {
		if c, is := sameValue(e).(*expr.Col); is {
			if _, seen := at[c.Index]; !seen {
				at[c.Index] = i
			}
		}
	}
	var out [][]int
	for _, key := range Keys(n.Input) {
		var k []int
		for _, c := range key {
			if i, ok := at[c]; ok {
				k = append(k, i)
			}
		}
		if len(k) == len(key) {
			slices.Sort(k)
			out = append(out, k)
		}
	}
	return out
}

// sameValue removes what leaves different values different: the check for NULL, and conversions to a wider type.
func sameValue(e expr.Expr) expr.Expr {
	switch x := e.(type) {
	case *expr.Call:
		if x.Def.Name == RequireNotNull {
			return sameValue(x.Args[0])
		}
	case *expr.Cast:
		from, to := x.Arg.Type(), x.Typ
		wider := from.IsInteger() && to.IsInteger() && to.Kind >= from.Kind || from.IsChar() && to.Kind == types.Varchar && to.Length >= from.Length
		if wider {
			return sameValue(x.Arg)
		}
	}
	return e
}

// RequireNotNull is the name of the internal function that checks values for NOT NULL columns.
const RequireNotNull = "REQUIRE_NOT_NULL"

// joinKeys: a pair of rows is told by the keys of both; where a row can meet but one of the other side, its own key will do.
func joinKeys(n *Join) [][]int {
	left := Keys(n.L)
	if n.Kind.LeftOnly() {
		return left
	}
	width := len(n.L.Schema().Fields)
	right := Keys(n.R)
	var out [][]int
	if single(right, n.Keys, func(k JoinKey) int { return k.R }) && !n.Kind.PadsLeft() {
		out = append(out, left...)
	}
	shifted := make([][]int, len(right))
	for i, key := range right {
		for _, c := range key {
			shifted[i] = append(shifted[i], c+width)
		}
	}
	if single(left, n.Keys, func(k JoinKey) int { return k.L }) && !n.Kind.PadsRight() {
		out = append(out, shifted...)
	}
	for _, l := range left {
		for _, r := range shifted {
			out = append(out, slices.Concat(l, r))
		}
	}
	return out
}

// single reports whether the columns that a join compares hold a key.
func single(keys [][]int, by []JoinKey, side func(JoinKey) int) bool {
	return slices.ContainsFunc(keys, func(key []int) bool {
		return !slices.ContainsFunc(key, func(c int) bool {
			return !slices.ContainsFunc(by, func(k JoinKey) bool { return side(k) == c })
		})
	})
}

// rankKeys: where one row of each partition is kept, the partition tells it; its number tells it otherwise.
func rankKeys(n *Rank) [][]int {
	out := Keys(n.Input)
	if n.Ties {
		return out
	}
	by := slices.Clone(n.Partition)
	if n.From != n.To {
		if !n.Numbered {
			return out
		}
		by = append(by, len(n.Out.Fields)-1)
	}
	slices.Sort(by)
	return append(out, by)
}

// windowKeys: a group has one row a window, which each of the window's columns tells, but for the start of those that grow.
func windowKeys(n *WindowAggregate) [][]int {
	var out [][]int
	for i, p := range n.Props {
		if p == WindowStart && n.Window.Kind == Cumulate {
			continue
		}
		out = append(out, append(upTo(len(n.Keys)), len(n.Keys)+len(n.Aggs)+i))
	}
	return out
}
