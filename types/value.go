package types

// Int128 is a signed two's-complement 128-bit integer: the unscaled value of a
// DECIMAL with a precision above 18. Its arithmetic is in int128.go.
type Int128 struct {
	Hi int64
	Lo uint64
}

// TS is a point in time for types with a precision above 3: milliseconds since
// 1970-01-01 00:00:00 and the nanoseconds within that millisecond, 0 to
// 999,999. For TIMESTAMP it is wall time, for TIMESTAMP_LTZ it is UTC.
type TS struct {
	Ms int64
	Ns int32
}

// Compare orders two points in time.
func (a TS) Compare(b TS) int {
	switch {
	case a.Ms < b.Ms, a.Ms == b.Ms && a.Ns < b.Ns:
		return -1
	case a == b:
		return 0
	}
	return 1
}
