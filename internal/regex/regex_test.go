package regex

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestJava compares with what java.util.regex answered.
func TestJava(t *testing.T) {
	f, err := os.Open("testdata/java.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		expr, rest := unquote(t, sc.Text())
		text, want := unquote(t, rest)
		got, err := answer(expr, text)
		if got != want {
			t.Errorf("%q on %q: got %s (%v), want %s", expr, text, got, err, want)
		}
		lines++
	}
	if lines < 1500 {
		t.Errorf("only %d lines", lines)
	}
}

// unquote takes a quoted string and the space behind it from a line.
func unquote(t *testing.T, line string) (s, rest string) {
	t.Helper()
	q, err := strconv.QuotedPrefix(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if s, err = strconv.Unquote(q); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return s, strings.TrimPrefix(line[len(q):], " ")
}

// answer runs an expression over a text and tells the result as java.txt does.
func answer(expr, text string) (string, error) {
	re, err := Compile(expr)
	if err != nil {
		return "E", err
	}
	var b strings.Builder
	s := []byte(text)
	err = re.Each(s, func(m []int) bool {
		for g := 0; g < len(m); g += 2 {
			b.WriteByte(" ["[min(1, 1-min(g, 1))])
			fmt.Fprintf(&b, "%d,%d", chars(s, m[g]), chars(s, m[g+1]))
		}
		b.WriteByte(']')
		return true
	})
	if err != nil {
		return "", err
	}
	all, err := re.MatchAll(s)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String() + map[bool]string{true: " T", false: " F"}[all]), nil
}

// chars counts the characters before an offset; -1 stays.
func chars(s []byte, off int) int {
	if off < 0 {
		return -1
	}
	return utf8.RuneCount(s[:off])
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"(", "unclosed group at position 2"},
		{"a)", "unmatched closing ) at position 2"},
		{"[a", "unclosed character class"},
		{"a{", "illegal repetition"},
		{"a{2", "unclosed counted closure"},
		{"*a", "dangling *"},
		{"a**", "dangling *"},
		{`\p{Foo}`, "unknown character property Foo"},
		{`\y`, "illegal escape sequence"},
		{"(?<=a+)b", "look-behind"},
		{"(?<1a>x)", "group name"},
		{"(?<a>x)(?<a>y)", "used twice"},
		{strings.Repeat("(", 2000), "nested too deep"},
	} {
		_, err := Compile(c.expr)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: got %v, want %q", c.expr, err, c.want)
		}
	}
	for _, expr := range []string{`\p{InGreek}`, `\X`, `\b{g}`, `\N{LATIN SMALL LETTER A}`, "((a{1,1000}){1,1000}){1,1000}"} {
		_, err := Compile(expr)
		var unsupported *UnsupportedError
		if !errors.As(err, &unsupported) {
			t.Errorf("%s: got %v, want that it is not supported", expr, err)
		}
	}
}

func TestSurrogates(t *testing.T) {
	text := []byte("a\xED\xA0\xBDb")
	for _, c := range []struct {
		expr string
		want string
	}{{"a.b", "[0 5]"}, {`\x{D83D}`, "[1 4]"}, {`[^a]`, "[1 4]"}, {`\P{L}`, "[1 4]"}, {`\ud83d`, "[1 4]"}} {
		re, err := Compile(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		if m, _ := re.Find(text, 0); fmt.Sprint(m) != c.want {
			t.Errorf("%s: got %v, want %s", c.expr, m, c.want)
		}
	}
}

func TestTooComplex(t *testing.T) {
	re, err := Compile("(a+)+$")
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(strings.Repeat("a", 40) + "b")
	if _, err := re.Find(text, 0); !errors.Is(err, ErrTooComplex) {
		t.Errorf("got %v, want %v", err, ErrTooComplex)
	}
	if m, err := re.Find([]byte("xaa"), 0); err != nil || fmt.Sprint(m) != "[1 3 1 3]" {
		t.Errorf("the next search gives %v, %v", m, err)
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`(?i)a(b|c)*+\1[^x-z&&\w]{2,3}?(?<=q)$`, "abcbx")
	f.Add(`\Qa\E|(?<n>é)\k<n>`, "éé")
	f.Fuzz(func(t *testing.T, expr, text string) {
		if len(expr) > 40 || len(text) > 20 {
			return
		}
		re, err := Compile(expr)
		if err != nil {
			return
		}
		re.Each([]byte(text), func(m []int) bool {
			if m[0] < 0 || m[1] < m[0] || m[1] > len(text) {
				t.Fatalf("match %v", m)
			}
			return true
		})
	})
}

func BenchmarkFind(b *testing.B) {
	text := []byte("2024-02-29 12:34:56 GET /shop/item?id=4711&lang=de HTTP/1.1 200")
	for _, c := range []struct{ name, expr string }{
		{"literal", "HTTP"},
		{"digits", `id=(\d+)`},
		{"alternatives", "POST|PUT|GET"},
		{"class-first", `[A-Z]{3}\s`},
		{"no-match", "[0-9]{5,}x"},
	} {
		b.Run(c.name, func(b *testing.B) {
			re, err := Compile(c.expr)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := re.Find(text, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
