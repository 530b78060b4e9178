package batch

// Range returns the least and the greatest of the values at the positions sel
// (nil: 0 to n-1); ok is false if there is none, or one of them is null.
func Range(values []int64, valid Bitmap, sel []int32, n int) (least, most int64, ok bool) {
	if sel == nil {
		values = values[:n]
		if n == 0 || valid != nil && valid.CountValid(n) < n {
			return 0, 0, false
		}
		least, most = values[0], values[0]
		for _, v := range values[1:] {
			least, most = min(least, v), max(most, v)
		}
		return least, most, true
	}
	if len(sel) == 0 || valid != nil && !valid.All(sel) {
		return 0, 0, false
	}
	least, most = values[sel[0]], values[sel[0]]
	for _, p := range sel[1:] {
		least, most = min(least, values[p]), max(most, values[p])
	}
	return least, most, true
}
