package over

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/state"
)

// anew computes aggregates that take nothing back from the rows of the frames of
// rows.
func (c *chunk) anew(rows []int32) error {
	var calls []*scratch
	for i := range c.calls {
		if p := &c.calls[i]; p.anew {
			calls = append(calls, &scratch{placed: p, result: i})
		}
	}
	if calls == nil {
		return nil
	}
	first, which := c.firsts(rows)
	for _, s := range calls {
		s.begin(len(first))
	}
	prefix := *c.keys
	prefix.Rows = first
	q := &state.Ranges{Prefix: &prefix}
	if c.ranged() {
		q.From, q.To = []batch.Vector{numbers(c.earliest())}, []batch.Vector{numbers(c.times)}
		if c.singly() {
			q.From = append(q.From, numbers(make([]int64, c.Size())))
			q.To = append(q.To, numbers(c.numbers))
		}
	} else {
		from := make([]int64, c.Size())
		for i, n := range c.numbers {
			from[i] = max(n-c.Frame.Preceding, 1)
		}
		q.From, q.To = []batch.Vector{numbers(from)}, []batch.Vector{numbers(c.numbers)}
	}
	space := c.frame.table.Space(0)
	err := space.Range(q, batch.DefaultSize, func(of, slots []int32) error {
		for _, s := range calls {
			args := make([]batch.Vector, len(s.Args))
			for i, a := range s.Args {
				args[i] = c.frame.column(space, slots, a)
			}
			if err := s.add(of, args); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range calls {
		v, err := s.Bound.Agg.Result(s.cols, batch.All(len(first)))
		if err != nil {
			return err
		}
		batch.AppendTake(c.results[s.result], v, which)
	}
	return nil
}

// scratch is an aggregate whose accumulators last for one round.
type scratch struct {
	*placed
	result int
	cols   []batch.Column
	// seen are the values that a distinct aggregate has.
	seen map[string]bool
	key  []byte
}

func (s *scratch) begin(n int) {
	s.cols = make([]batch.Column, len(s.Bound.State))
	for i, t := range s.Bound.State {
		s.cols[i] = batch.NewColumn(t)
		s.cols[i].Grow(n)
	}
	if s.Distinct {
		s.seen = map[string]bool{}
	}
}

// add adds the values at all positions of args to the accumulators at slots.
func (s *scratch) add(slots []int32, args []batch.Vector) error {
	rows := batch.All(len(slots))
	if s.Distinct {
		var at []int32
		rows = rows[:0:0]
		for i, slot := range slots {
			s.key = append(s.key[:0], byte(slot), byte(slot>>8), byte(slot>>16), byte(slot>>24))
			for _, a := range args {
				s.key = batch.AppendKey(s.key, a, i)
			}
			if !s.seen[string(s.key)] {
				s.seen[string(s.key)] = true
				at, rows = append(at, slot), append(rows, int32(i))
			}
		}
		slots = at
	}
	return s.Bound.Agg.Add(s.cols, slots, args, rows)
}
