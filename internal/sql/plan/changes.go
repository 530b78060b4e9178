package plan

import (
	"slices"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/internal/diag"
)

// Changes are the kinds of change that each node of a plan emits.
type Changes struct {
	modes map[Node]connector.Modes
	// Errors are mistakes, Missing what needs an operator that does not exist yet.
	Errors, Missing diag.List
}

// InferChanges finds the kinds of change that each node emits, and checks that each node can take those of its inputs.
// accepts tells what a sink takes; it is called for each Sink.
func InferChanges(root Node, accepts func(*Sink) connector.Modes) *Changes {
	c := &Changes{modes: map[Node]connector.Modes{}}
	Walk(root, func(n Node) { c.modes[n] = c.infer(n, accepts) })
	return c
}

// Of returns the kinds of change that a node emits.
func (c *Changes) Of(n Node) connector.Modes { return c.modes[n] }

// Updating reports whether a node emits more than +I.
func (c *Changes) Updating(n Node) bool { return c.modes[n] != connector.InsertOnly }

func (c *Changes) infer(n Node, accepts func(*Sink) connector.Modes) connector.Modes {
	switch n := n.(type) {
	case *Scan:
		if n.Modes.Upsert {
			c.Missing.Errorf(n.Pos, "reading the changes of table %s by their key (a table that sends no -U) is not supported yet", n.Table.Path.Name)
		}
		return n.Modes
	case *Values, *Late:
		return connector.InsertOnly
	case *Aggregate:
		return c.aggregate(n)
	case *WindowAggregate:
		return c.windowAggregate(n)
	case *Join:
		return c.join(n)
	case *Over:
		c.Missing.Errorf(n.Pos, "OVER ordered by a column that is no time attribute is not supported yet")
		return connector.InsertOnly
	case *OverAggregate:
		c.onlyInserts(n.Pos, n.Input, "OVER")
		return connector.InsertOnly
	case *Rank:
		return c.rank(n)
	case *Union:
		var out connector.Modes
		for _, in := range n.In {
			m := c.modes[in]
			out.Update, out.Before, out.Delete = out.Update || m.Update, out.Before || m.Before, out.Delete || m.Delete
		}
		return out
	case *Sort:
		c.onlyInserts(n.Pos, n.Input, "ORDER BY")
		return connector.InsertOnly
	case *Limit:
		if c.Updating(n.Input) {
			c.Missing.Errorf(n.Pos, "LIMIT over an input that updates is not supported yet")
		}
		return connector.InsertOnly
	case *Sink:
		in := c.modes[n.Input]
		c.sink(n, in, accepts(n))
		return in
	}
	return c.modes[n.Inputs()[0]]
}

// aggregate: an aggregation updates its results as rows come; DISTINCT counts as updating as well, as it does in Flink.
func (c *Changes) aggregate(n *Aggregate) connector.Modes {
	if len(n.Aggs) > 0 || len(n.Keys) == 0 {
		what := "an aggregation without a window (GROUP BY without window_start and window_end)"
		if len(n.Keys) == 0 {
			what = "an aggregate function without a window"
		}
		c.Missing.Errorf(n.Pos, "%s is not supported yet", what)
	}
	return connector.Modes{Update: true, Before: true, Delete: c.modes[n.Input].Delete}
}

// windowAggregate: the result of a window that is shown once has only new rows.
func (c *Changes) windowAggregate(n *WindowAggregate) connector.Modes {
	if n.Emit == nil {
		return connector.InsertOnly
	}
	return connector.Modes{Update: true, Before: true, Delete: c.Updating(n.Input)}
}

// onlyInserts refuses an input that changes.
func (c *Changes) onlyInserts(pos diag.Pos, in Node, what string) {
	if c.Updating(in) {
		c.Errors.Errorf(pos, "%s takes only new rows (+I), but its input changes: it is made by %s", what, c.cause(in))
	}
}

// sink checks that a sink takes what the query gives.
func (c *Changes) sink(n *Sink, in, takes connector.Modes) {
	if n.Table == nil {
		return
	}
	if in.Update && !takes.Update || in.Delete && !takes.Delete {
		c.Errors.Errorf(n.Pos, "table %s takes only new rows (+I), but the query's result changes: it is made by %s", n.Table.Path.Name, c.cause(n.Input)).
			WithHint("only a connector that takes changes can store it")
		return
	}
	c.conflicts(n, in, takes)
}

// conflicts checks ON CONFLICT, which a sink that goes by its primary key needs where that is not the key of the query: rows of
// several keys may then meet in one.
func (c *Changes) conflicts(n *Sink, in, takes connector.Modes) {
	table := n.Table.Path.Name
	if n.Table.PrimaryKey == nil || !takes.Upsert {
		if n.OnConflict != "" {
			c.Errors.Errorf(n.Pos, "ON CONFLICT needs a table that is written by its PRIMARY KEY, which %s is not", table)
		}
		return
	}
	same := c.sameKey(n)
	switch {
	case !same && n.OnConflict == "" && n.RequireOnConflict:
		c.Errors.Errorf(n.Pos, "the PRIMARY KEY of table %s is not a key of the query, so rows of several keys may meet in one", table).
			WithHint("say what happens then: ON CONFLICT DO DEDUPLICATE keeps the last row; or SET 'table.exec.sink.require-on-conflict' = 'false'")
	case !same && (n.OnConflict == "NOTHING" || n.OnConflict == "ERROR"):
		if !Watermarked(n.Input) {
			c.Errors.Errorf(n.Pos, "ON CONFLICT DO %s decides when the watermark passes, but the query has none", n.OnConflict)
			return
		}
		c.Missing.Errorf(n.Pos, "ON CONFLICT DO %s is not supported yet", n.OnConflict)
	case in != connector.InsertOnly:
		c.Missing.Errorf(n.Pos, "writing the changes of a query to table %s by its PRIMARY KEY is not supported yet", table)
	}
}

// sameKey reports whether the sink's primary key is a key of the query.
func (c *Changes) sameKey(n *Sink) bool {
	schema := n.Schema()
	want := make([]int, len(n.Table.PrimaryKey.Columns))
	for i, name := range n.Table.PrimaryKey.Columns {
		want[i] = schema.Index(name)
	}
	slices.Sort(want)
	return slices.ContainsFunc(Keys(n.Input), func(key []int) bool { return slices.Equal(key, want) })
}

// Watermarked reports whether a table that the node reads has a watermark.
func Watermarked(n Node) bool {
	found := false
	Walk(n, func(n Node) {
		if s, is := n.(*Scan); is && s.Table.Watermark != nil {
			found = true
		}
	})
	return found
}

// cause names the lowest node that makes updates.
func (c *Changes) cause(n Node) string {
	for _, in := range n.Inputs() {
		if c.Updating(in) {
			return c.cause(in)
		}
	}
	switch n := n.(type) {
	case *Scan:
		return "table " + n.Table.Path.Name + ", which sends changes"
	case *Aggregate:
		if len(n.Aggs) == 0 {
			return "DISTINCT"
		}
		return "GROUP BY"
	case *WindowAggregate:
		return "windows that show their results early, or again for late rows (" + n.Emit.String() + ")"
	}
	return n.Line()
}

// ModeText prints kinds of change as Flink does: I,UB,UA,D.
func ModeText(m connector.Modes) string {
	parts := []string{"I"}
	if m.Update && m.Before {
		parts = append(parts, "UB")
	}
	if m.Update {
		parts = append(parts, "UA")
	}
	if m.Delete {
		parts = append(parts, "D")
	}
	return strings.Join(parts, ",")
}
