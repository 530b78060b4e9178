package window

// Each calls f once for each window with the rows that are in it, in
// their order; ends[i] is the end of the window of rows[i], or ends[0] that of all.
// Windows come in the order in which they first appear.
func Each(ends []int64, rows []int32, f func(end int64, rows []int32) error) error {
	if one := allEqual(ends); one {
		return f(ends[0], rows)
	}
	var (
		index  = map[int64]int32{}
		order  []int64
		counts []int32
		which  = make([]int32, len(ends))
		last   = int32(-1)
	)
	for i, e := range ends {
		if last < 0 || order[last] != e {
			w, ok := index[e]
			if !ok {
				w = int32(len(order))
				index[e] = w
				order, counts = append(order, e), append(counts, 0)
			}
			last = w
		}
		which[i] = last
		counts[last]++
	}
	starts := make([]int32, len(order)+1)
	for i, c := range counts {
		starts[i+1] = starts[i] + c
	}
	sorted, next := make([]int32, len(rows)), append([]int32(nil), starts...)
	for i, w := range which {
		sorted[next[w]] = rows[i]
		next[w]++
	}
	for i, e := range order {
		if err := f(e, sorted[starts[i]:starts[i+1]]); err != nil {
			return err
		}
	}
	return nil
}

func allEqual(ends []int64) bool {
	for _, e := range ends[1:] {
		if e != ends[0] {
			return false
		}
	}
	return true
}
