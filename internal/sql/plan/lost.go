package plan

import (
	"strings"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/expr"
	"github.com/millstream-io/millstream/types"
)

// Lost tells where a column stopped being a time attribute, or that it never was one: then it is the zero value.
type Lost struct {
	// Pos is where in the script that is, if it is known.
	Pos diag.Pos
	// What is what made an ordinary column of it, in words that follow "where".
	What string
}

// TimeLost follows a column that is no time attribute down to where it stopped being one.
func TimeLost(n Node, col int) Lost {
	switch n := n.(type) {
	case *Scan, *Watermark, *Values:
		return Lost{}
	case *Project:
		if c, is := n.Exprs[col].(*expr.Col); is {
			return TimeLost(n.Input, c.Index)
		}
		return lostIn(n.Input, n.Exprs[col])
	case *Filter, *Limit, *Sort:
		return TimeLost(n.Inputs()[0], col)
	case *Expand, *Over, *OverAggregate:
		if in := n.Inputs()[0]; col < len(in.Schema().Fields) {
			return TimeLost(in, col)
		}
	case *WindowTVF:
		if col < len(n.Input.Schema().Fields) {
			return TimeLost(n.Input, col)
		}
		return Lost{What: n.Out.Fields[col].Name + " is an ordinary timestamp; the time attribute of a window is window_time"}
	case *Aggregate:
		return n.lost(col)
	case *Union:
		return n.lost(col)
	}
	name, _, _ := strings.Cut(n.Line(), "(")
	return Lost{What: "it comes out of a " + name + ", which keeps no order of time"}
}

// lostIn says that an expression makes an ordinary value of a time attribute, if it reads one.
func lostIn(in Node, e expr.Expr) Lost {
	for _, c := range expr.Columns(e) {
		if TimeAttr(in, c) != types.NoTime {
			return Lost{Pos: expr.PlaceOf(e), What: e.String() + " computes with it"}
		}
	}
	for _, c := range expr.Columns(e) {
		if l := TimeLost(in, c); l.What != "" {
			return l
		}
	}
	return Lost{}
}

func (n *Aggregate) lost(col int) Lost {
	if col < len(n.Keys) {
		if TimeAttr(n.Input, n.Keys[col]) == types.NoTime {
			return TimeLost(n.Input, n.Keys[col])
		}
		return Lost{Pos: n.Pos, What: "rows are grouped by it"}
	}
	if col -= len(n.Keys); col < len(n.Aggs) {
		return Lost{Pos: n.Pos, What: n.Aggs[col].Def.Name + " makes a value of it"}
	}
	return Lost{}
}

func (n *Union) lost(col int) Lost {
	for _, in := range n.In {
		if TimeAttr(in, col) == types.NoTime {
			return TimeLost(in, col)
		}
	}
	return Lost{What: "UNION ALL puts event time and processing time into one column"}
}
