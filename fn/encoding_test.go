package fn

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestCharsets encodes texts and decodes them again.
func TestCharsets(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for range 2000 {
		s := bytes.ReplaceAll(texts(r, 10), []byte("\xed\xa0\xbd"), []byte("\u07ff"))
		units := utf16.Encode([]rune(string(s)))
		big, little := make([]byte, 0, 2*len(units)), make([]byte, 0, 2*len(units))
		for _, u := range units {
			big, little = binary.BigEndian.AppendUint16(big, u), binary.LittleEndian.AppendUint16(little, u)
		}
		mark := []byte{0xFE, 0xFF}[:min(2, 2*len(s))]
		var wide []byte
		for _, c := range string(s) {
			wide = binary.BigEndian.AppendUint32(wide, uint32(c))
		}
		for name, want := range map[string][]byte{"UTF-8": s, "utf-16be": big, "UTF-16LE": little, "UTF-16": append(mark, big...), "UTF-32": wide} {
			set, err := charsetOf(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := set.encode(nil, s); !bytes.Equal(got, want) {
				t.Fatalf("%q in %s: % x, want % x", s, name, got, want)
			}
			if got := set.decode(nil, want); !bytes.Equal(got, s) {
				t.Fatalf("% x from %s: %q, want %q", want, name, got, s)
			}
		}
	}
}

// TestMalformed has bytes that are no text, and texts that a set does not have.
func TestMalformed(t *testing.T) {
	decode := []struct{ set, in, want string }{
		{"UTF-8", "a\xffb\xc3", "a\ufffdb\ufffd"}, {"UTF-8", "\xed\xa0\x80", "\ufffd"}, {"US-ASCII", "a\xe9", "a\ufffd"}, {"ISO-8859-1", "a\xe9", "aé"},
		{"UTF-16", "\xff\xfeA\x00", "A"}, {"UTF-16", "\x00A\x00", "A\ufffd"}, {"UTF-16BE", "\xd8\x3d\x00A", "\ufffdA"}, {"UTF-16BE", "\xd8\x3d", "\ufffd"},
		{"UTF-32", "\x00\x11\x00\x00", "\ufffd"}, {"UTF-32", "\x00\x00\x00A\x00", "A\ufffd"},
	}
	for _, tt := range decode {
		set, _ := charsetOf(tt.set)
		if got := string(set.decode(nil, []byte(tt.in))); got != tt.want {
			t.Errorf("%q from %s: %q, want %q", tt.in, tt.set, got, tt.want)
		}
	}
	encode := []struct{ set, in, want string }{
		{"UTF-8", "a\xed\xa0\xbd", "a?"}, {"US-ASCII", "é😀", "??"}, {"ISO-8859-1", "é€", "\xe9?"}, {"UTF-16BE", "\xed\xa0\xbd", "\xff\xfd"}, {"UTF-16", "", ""},
	}
	for _, tt := range encode {
		set, _ := charsetOf(tt.set)
		if got := string(set.encode(nil, []byte(tt.in))); got != tt.want {
			t.Errorf("%q in %s: %q, want %q", tt.in, tt.set, got, tt.want)
		}
	}
	if _, err := charsetOf("EBCDIC"); err == nil {
		t.Error("there is a character set EBCDIC")
	}
}

// TestFormats has formats of PRINTF that are wrong as such.
func TestFormats(t *testing.T) {
	for _, format := range strings.Fields("% %z %- %-d %05 %0d %+s %#d %.d %5.2d %0$d %99999999999d %1$ %-05d %++d %D %5n %(x %i") {
		if _, ok := parseFormat(format); ok {
			t.Errorf("the format %q is taken", format)
		}
	}
	for _, format := range strings.Fields("%d %5d %-5d %05d %+d %,d %(d %1$d %<s %s %10.3s %S %x %X %#x %o %e %.3E %f %,.2f %g %a %c %b %% %n a%%b%n") {
		if _, ok := parseFormat(format); !ok {
			t.Errorf("the format %q is not taken", format)
		}
	}
}
