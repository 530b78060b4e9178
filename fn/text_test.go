package fn

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// texts gives random texts of few characters, of one to four bytes, with lone
// surrogates among them.
func texts(r *rand.Rand, most int) []byte {
	chars := []string{"a", "b", "A", "é", "笑", "😀", " ", "\xed\xa0\xbd"}
	if r.IntN(2) == 0 {
		chars = []string{"a", "b"}
	}
	var out []byte
	for range r.IntN(most + 1) {
		out = append(out, chars[r.IntN(len(chars))]...)
	}
	return out
}

// charsOf cuts a text into characters.
func charsOf(s []byte) []string {
	var out []string
	for len(s) > 0 {
		_, n := decodeChar(s)
		out = append(out, string(s[:n]))
		s = s[n:]
	}
	return out
}

func within(i, lo, hi int) int { return max(lo, min(i, hi)) }

// TestTextAgainstCharacters compares the code for bytes with that for lists of
// characters.
func TestTextAgainstCharacters(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 8000 {
		s, p, q := texts(r, 14), texts(r, 2), texts(r, 3)
		start, n := r.IntN(25)-10, r.IntN(8)-1
		c := charsOf(s)
		check := func(name string, got []byte, want string) {
			t.Helper()
			if string(got) != want {
				t.Fatalf("%s of %q, %q, %q, %d, %d: got %q, want %q", name, s, p, q, start, n, got, want)
			}
		}
		if got := charCount(s); got != len(c) {
			t.Fatalf("characters of %q: %d, want %d", s, got, len(c))
		}
		if got, want := isASCII(s), !bytes.ContainsFunc(s, func(r rune) bool { return r > 127 }); got != want {
			t.Fatalf("%q is ASCII: %t", s, got)
		}
		part, ok := substring(s, start, n)
		if ok != (n >= 0) {
			t.Fatalf("a substring of %d characters: %t", n, ok)
		}
		check("SUBSTRING", part, naiveSubstring(c, start, n))
		check("REVERSE", appendReverse(nil, s), strings.Join(reversed(c), ""))
		check("REPLACE", appendReplace([]byte("x"), s, p, q), "x"+naiveReplace(c, string(p), string(q)))
		for _, side := range []sides{leftSide, rightSide, leftSide | rightSide} {
			check("TRIM", trim(s, q, side), naiveTrim(c, charsOf(q), side))
		}
		check("TRANSLATE", translate(s, p, q), naiveTranslate(c, charsOf(p), charsOf(q)))
		check("OVERLAY", appendOverlay(nil, s, p, int64(start), int64(n)), naiveOverlay(c, string(p), start, n))
		if got, want := position(s, p, int32(start)), naivePosition(c, charsOf(p), start); got != want {
			t.Fatalf("position of %q in %q from %d: got %d, want %d", p, s, start, got, want)
		}
		if len(p) > 0 {
			if got, want := instr(s, p, int32(start), int32(n+2)), naiveInstr(c, charsOf(p), start, n+2); got != want {
				t.Fatalf("occurrence %d of %q in %q from %d: got %d, want %d", n+2, p, s, start, got, want)
			}
			part, ok := splitIndex(s, p, n)
			parts := strings.Split(string(s), string(p))
			if want := n >= 0 && n < len(parts) && len(s) > 0; ok != want || ok && string(part) != parts[n] {
				t.Fatalf("part %d of %q by %q: got %q, %t", n, s, p, part, ok)
			}
		}
	}
}

func naiveSubstring(c []string, start, n int) string {
	switch {
	case start > 0:
		start--
	case start < 0:
		start += len(c)
	}
	if n < 0 || start < 0 || start > len(c) {
		return ""
	}
	return strings.Join(c[start:min(start+n, len(c))], "")
}

func reversed(c []string) []string {
	c = slices.Clone(c)
	slices.Reverse(c)
	return c
}

func naiveReplace(c []string, old, with string) string {
	if old == "" {
		return with + strings.Join(c, with) + strings.Repeat(with, min(len(c), 1))
	}
	return strings.ReplaceAll(strings.Join(c, ""), old, with)
}

func naiveTrim(c, set []string, side sides) string {
	for side&leftSide != 0 && len(c) > 0 && slices.Contains(set, c[0]) {
		c = c[1:]
	}
	for side&rightSide != 0 && len(c) > 0 && slices.Contains(set, c[len(c)-1]) {
		c = c[:len(c)-1]
	}
	return strings.Join(c, "")
}

func translate(s, from, to []byte) []byte {
	var tr translation
	tr.set(from, to)
	return tr.append(nil, s)
}

func naiveTranslate(c, from, to []string) string {
	out := ""
	for _, x := range c {
		switch i := slices.Index(from, x); {
		case i < 0:
			out += x
		case i < len(to):
			out += to[i]
		}
	}
	return out
}

func naiveOverlay(c []string, with string, start, n int) string {
	if start <= 0 || start > len(c) {
		return strings.Join(c, "")
	}
	out := strings.Join(c[:start-1], "") + with
	if n > 0 {
		out += strings.Join(c[within(start-1+n, 0, len(c)):], "")
	}
	return out
}

func naivePosition(c, part []string, from int) int32 {
	if len(part) == 0 {
		return 1
	}
	for i := max(from-1, 0); i+len(part) <= len(c); i++ {
		if slices.Equal(c[i:i+len(part)], part) {
			return int32(i + 1)
		}
	}
	return 0
}

func naiveInstr(c, part []string, from, n int) int32 {
	step, i := 1, from-1
	switch {
	case from == 0:
		return 0
	case from < 0:
		step, i = -1, len(c)+from-len(part)+1
	}
	for ; i >= 0 && i <= len(c); i += step {
		if i+len(part) <= len(c) && slices.Equal(c[i:i+len(part)], part) {
			if n--; n == 0 {
				return int32(i + 1)
			}
		}
	}
	return 0
}

// TestCase compares with Go's cases, for all characters but those that Java
// writes out, and for all lengths.
func TestCase(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if utf16.IsSurrogate(r) {
			continue
		}
		s := []byte("x" + string(r))
		if _, long := longUpper[r]; !long {
			if got, want := string(appendUpper(nil, s)), "X"+string(unicode.ToUpper(r)); got != want {
				t.Fatalf("upper case of %q: %q, want %q", s, got, want)
			}
		}
		if r == 'İ' || r == 'Σ' {
			continue
		}
		if got, want := string(appendLower(nil, s)), "x"+string(unicode.ToLower(r)); got != want {
			t.Fatalf("lower case of %q: %q, want %q", s, got, want)
		}
	}
	for c := range byte(128) {
		for n := range 20 {
			s := bytes.Repeat([]byte{c}, n)
			up, low := bytes.ToUpper(s), bytes.ToLower(s)
			upperASCII(s)
			if !bytes.Equal(s, up) {
				t.Fatalf("upper case of %d %q: %q", n, c, s)
			}
			lowerASCII(s)
			if !bytes.Equal(s, low) {
				t.Fatalf("lower case of %d %q: %q", n, c, s)
			}
		}
	}
}

func TestCaseOfWords(t *testing.T) {
	tests := []struct{ in, upper, lower string }{
		{"Straße", "STRASSE", "straße"}, {"ﬃ", "FFI", "ﬃ"}, {"ŉ", "ʼN", "ŉ"}, {"ᾳᾼ", "ΑΙΑΙ", "ᾳᾳ"}, {"ᾃ", "ἋΙ", "ᾃ"}, {"Ǆǅǆ", "ǄǄǄ", "ǆǆǆ"},
		{"İI", "İI", "i\u0307i"}, {"ıi", "II", "ıi"}, {"ΌΔΟΣ Σ", "ΌΔΟΣ Σ", "όδος σ"}, {"ΑΣ.", "ΑΣ.", "ας."}, {"ΑΣ.Α", "ΑΣ.Α", "ασ.α"},
		{"𐐨𐐀", "𐐀𐐀", "𐐨𐐨"}, {"\xed\xa0\x80Aé", "\xed\xa0\x80AÉ", "\xed\xa0\x80aé"}, {"ÿ", "Ÿ", "ÿ"}, {"µ", "Μ", "µ"},
	}
	for _, tt := range tests {
		if got := string(appendUpper(nil, []byte(tt.in))); got != tt.upper {
			t.Errorf("upper case of %q: %q, want %q", tt.in, got, tt.upper)
		}
		if got := string(appendLower(nil, []byte(tt.in))); got != tt.lower {
			t.Errorf("lower case of %q: %q, want %q", tt.in, got, tt.lower)
		}
	}
}

// TestPad pads with paddings of any length, and cuts.
func TestPad(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		s, pad, n := texts(r, 6), append(texts(r, 3), '*'), r.IntN(12)
		c, p := charsOf(s), charsOf(pad)
		fill := ""
		for i := range max(n-len(c), 0) {
			fill += p[i%len(p)]
		}
		cut := strings.Join(c[:min(n, len(c))], "")
		for _, tt := range []struct {
			side sides
			want string
		}{{leftSide, fill + cut}, {rightSide, cut + fill}} {
			text := func(b []byte) batch.Vector {
				v := batch.NewBytes(types.StringType(), 1, len(b))
				v.Append(b)
				return v
			}
			num := batch.MakeFixed[int32](types.Of(types.Int), 1)
			num.Values[0] = int32(n)
			out, err := padKernel(tt.side, "PAD")(types.StringType())(Rows{N: 1}, []batch.Vector{text(s), num, text(pad)})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(out.(*batch.Bytes).At(0)); got != tt.want {
				t.Fatalf("%q to %d by %q: got %q, want %q", s, n, pad, got, tt.want)
			}
		}
	}
}

// TestDelimiters splits as Java's String.split does.
func TestDelimiters(t *testing.T) {
	tests := []struct{ s, by, want string }{
		{"a,b", ",", "a|b"}, {"", ",", ""}, {",,", ",", ""}, {"a,,", ",", "a"}, {",a", ",", "|a"}, {"a,,b", ",", "a||b"},
		{"abc", "", "a|b|c"}, {"a1b22c", "[0-9]+", "a|b|c"}, {"a.b", ".", ""}, {"a.b", "\\.", "a|b"}, {"a|b", "|", "a|||b"},
		{"aéb", "é", "a|b"}, {"xax", "x*", "||a"}, {"a b", "(?= )", "a| b"}, {"abc", "z", "abc"},
	}
	for _, tt := range tests {
		var d delimiter
		if err := d.set([]byte(tt.by)); err != nil {
			t.Fatal(err)
		}
		var parts []string
		if err := d.split([]byte(tt.s), func(p []byte) error { parts = append(parts, string(p)); return nil }); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(parts, "|"); got != tt.want {
			t.Errorf("%q by %q: got %q, want %q", tt.s, tt.by, got, tt.want)
		}
	}
	if err := new(delimiter).set([]byte("(")); err == nil {
		t.Error("a wrong expression is taken for a delimiter")
	}
}

// TestManyPairs has keys that come again behind many others.
func TestManyPairs(t *testing.T) {
	var pairs, keys delimiter
	if err := errors.Join(pairs.set([]byte(",")), keys.set([]byte("="))); err != nil {
		t.Fatal(err)
	}
	var in []string
	for round := range 2 {
		for i := range 15 * (round + 1) {
			in = append(in, fmt.Sprintf("k%d=%d", i, i+round))
		}
	}
	m := batch.New(types.MapOf(types.StringType(), types.StringType()), 1).(*batch.Map)
	buf, err := appendPairs(m, []byte(strings.Join(in, ",")), &pairs, &keys, nil)
	if err != nil || len(buf) != 30 {
		t.Fatalf("%d pairs, %v", len(buf), err)
	}
	for i := range 30 {
		if k, v := string(m.Keys.(*batch.Bytes).At(i)), string(m.Vals.(*batch.Bytes).At(i)); k != fmt.Sprintf("k%d", i) || v != fmt.Sprint(i+1) {
			t.Errorf("pair %d: %s=%s", i, k, v)
		}
	}
}
