package batch

import "slices"

// Extreme returns those of the rows at which v has its least value among them,
// or its greatest; rows that are NULL have none. It returns false for types that
// it does not compare.
func Extreme(v Vector, rows []int32, greatest bool) ([]int32, bool) {
	switch v := v.(type) {
	case *Fixed[int8]:
		return extreme(v, rows, greatest), true
	case *Fixed[int16]:
		return extreme(v, rows, greatest), true
	case *Fixed[int32]:
		return extreme(v, rows, greatest), true
	case *Fixed[int64]:
		return extreme(v, rows, greatest), true
	}
	return nil, false
}

func extreme[T int8 | int16 | int32 | int64](v *Fixed[T], rows []int32, greatest bool) []int32 {
	null := func(p int32) bool { return v.Valid.IsNull(int(p)) }
	if v.Valid != nil && slices.ContainsFunc(rows, null) {
		rows = slices.DeleteFunc(slices.Clone(rows), null)
	}
	if len(rows) == 0 {
		return nil
	}
	best := v.Values[rows[0]]
	if greatest {
		for _, p := range rows {
			best = max(best, v.Values[p])
		}
	} else {
		for _, p := range rows {
			best = min(best, v.Values[p])
		}
	}
	var out []int32
	for _, p := range rows {
		if v.Values[p] == best {
			out = append(out, p)
		}
	}
	return out
}
