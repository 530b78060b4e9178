package bind

import (
	"slices"
	"strings"

	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// stateTTL checks the hints STATE_TTL of a SELECT as Flink does: each value is a duration and, where the SELECT aggregates or joins,
// each name is one of a table in its FROM. State of windows goes with its window, so the hint changes nothing there.
func (b *Binder) stateTTL(q *ast.Select, from *relation, keeps bool) {
	for _, h := range q.Hints {
		if upper(h.Name.Name) != "STATE_TTL" {
			continue
		}
		if len(h.Args) == 0 && len(h.Options) == 0 {
			b.errorf(h.Pos(), "STATE_TTL needs key-value pairs: /*+ STATE_TTL('table' = '1 d') */")
		}
		for _, o := range h.Options {
			if _, err := format.ParseDuration(o.Value.Value); err != nil {
				b.errorf(o.Value.Pos(), "STATE_TTL of %s: %q is no duration such as 1 d", o.Key.Value, o.Value.Value)
			}
			if !keeps || from == nil {
				continue
			}
			if _, ok := (&scope{rel: from}).named(strings.Split(o.Key.Value, ".")); !ok {
				b.unknown(o.Key.Pos(), o.Key.Value, tableNames(from), "STATE_TTL: this FROM has no table or alias %s", o.Key.Value)
			}
		}
	}
}

// tableNames are the names of the tables of a FROM.
func tableNames(r *relation) []string {
	var out []string
	for _, t := range r.parts() {
		if n := len(t.names); n > 0 && !slices.Contains(out, t.names[n-1]) {
			out = append(out, t.names[n-1])
		}
	}
	return out
}

// distinctTTL is the time that the hint STATE_TTL gives the rows of a SELECT DISTINCT; nil if there is no hint. Of several the first
// one counts. combines tells of state below it, which the hint would have to reach as well.
func (b *Binder) distinctTTL(q *ast.Select, combines bool) *int64 {
	for _, h := range q.Hints {
		if upper(h.Name.Name) != "STATE_TTL" || len(h.Options) == 0 {
			continue
		}
		if combines {
			b.unsupported(h.Pos(), "the hint STATE_TTL of SELECT DISTINCT over an aggregation or a join")
			return nil
		}
		ttl, err := format.ParseDuration(h.Options[0].Value.Value)
		if err != nil {
			return nil // stateTTL has told
		}
		ms := ttl.Milliseconds()
		return &ms
	}
	return nil
}
