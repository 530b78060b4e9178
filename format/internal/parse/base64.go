package parse

// base64 of a character: its value, or 0xFF.
var base64Value = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xFF
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range len(alphabet) {
		t[alphabet[i]] = byte(i)
	}
	return t
}()

// AppendBase64 appends the bytes that a text in base64 with padding stands for.
// Blanks may stand before each group of four characters.
func AppendBase64(buf, b []byte) ([]byte, Fault) {
	for {
		for len(b) > 0 && b[0] <= ' ' {
			b = b[1:]
		}
		if len(b) == 0 {
			return buf, OK
		}
		if len(b) < 4 {
			return buf, Form
		}
		c0, c1, c2, c3 := base64Value[b[0]], base64Value[b[1]], base64Value[b[2]], base64Value[b[3]]
		switch {
		case c0 == 0xFF || c1 == 0xFF:
			return buf, Form
		case b[2] == '=' && b[3] == '=' && len(Trim(b[4:])) == 0:
			return append(buf, c0<<2|c1>>4), OK
		case c2 == 0xFF:
			return buf, Form
		case b[3] == '=' && len(Trim(b[4:])) == 0:
			return append(buf, c0<<2|c1>>4, c1<<4|c2>>2), OK
		case c3 == 0xFF:
			return buf, Form
		}
		buf = append(buf, c0<<2|c1>>4, c1<<4|c2>>2, c2<<6|c3)
		b = b[4:]
	}
}
