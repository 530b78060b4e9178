package text

// IsSurrogate reports whether b begins with the three bytes of a surrogate.
func IsSurrogate(b []byte) bool {
	return len(b) >= 3 && b[0] == 0xED && b[1] >= 0xA0 && b[1] <= 0xBF && b[2]&0xC0 == 0x80
}
