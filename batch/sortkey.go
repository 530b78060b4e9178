package batch

// Direction says how ORDER BY orders one column.
type Direction struct {
	Descending bool
	// NullsLast puts NULL behind all values, whatever their direction.
	NullsLast bool
}

// AppendSortKey appends bytes for the value at position pos that bytes.Compare
// orders as d says. Those of several columns are strung together. They are those of AppendKey
// where NULL comes first and the order is ascending; they cannot be decoded
// otherwise.
func AppendSortKey(buf []byte, v Vector, pos int, d Direction) []byte {
	if v.Validity().IsNull(pos) {
		if d.NullsLast {
			return append(buf, 0xff)
		}
		return append(buf, keyNull)
	}
	at := len(buf) + 1
	buf = AppendKey(buf, v, pos)
	if d.Descending {
		for i := at; i < len(buf); i++ {
			buf[i] = ^buf[i]
		}
	}
	return buf
}
