package over

import (
	"github.com/millstream-io/millstream/batch"
)

// looked computes the calls that look at numbers of rows.
func (c *chunk) looked() error {
	for i := range c.calls {
		p := &c.calls[i]
		var err error
		switch p.Func {
		case RowNumber:
			c.results[i] = numbers(c.numbers)
		case Rank:
			c.results[i] = numbers(c.ranks(c.rank, c.at.rank))
		case DenseRank:
			c.results[i] = numbers(c.ranks(c.dense, c.at.dense))
		case Lag:
			c.results[i], err = c.lag(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ranks returns ranks that were noted, or, where rows were added before, those of
// their keys.
func (c *chunk) ranks(noted []int64, col int) []int64 {
	if noted != nil {
		return noted
	}
	out := make([]int64, len(c.slots))
	ranks := c.groups.Space(0).Cols()[col].(*batch.Slab[int64])
	for i, s := range c.slots {
		out[i] = *ranks.At(s)
	}
	return out
}

// lag returns values of earlier rows. The default stands for any NULL, as in Flink,
// not only where there is no row.
func (c *chunk) lag(p *placed) (batch.Vector, error) {
	n := c.Size()
	value := c.Cols[p.Value]
	index := batch.All(n)
	if p.Back > 0 {
		l, err := c.frame.before(c, p.Back)
		if err != nil {
			return nil, err
		}
		value, index = c.frame.column(l.space, l.slots, p.Value), l.index
	}
	t := value.Type().WithNull(true)
	all := batch.New(t, n)
	batch.AppendTake(all, value, nil)
	values := all.Len()
	valid := all.Validity()
	if p.Default >= 0 {
		batch.AppendTake(all, c.Cols[p.Default], nil)
	} else {
		all.AppendNull()
	}
	take := make([]int32, n)
	for i := range take {
		k := index[i]
		switch {
		case k >= 0 && !valid.IsNull(int(k)):
			take[i] = k
		case p.Default >= 0:
			take[i] = int32(values + i)
		default:
			take[i] = int32(values)
		}
	}
	return batch.Take(all, take), nil
}
