package datepattern

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/types"
)

// TestJava compares with what Java answered.
func TestJava(t *testing.T) {
	f, err := os.Open("testdata/java.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		kind, rest, _ := strings.Cut(sc.Text(), " ")
		if kind == "#" || kind[0] == '#' {
			continue
		}
		args := []string{kind}
		for rest != "" {
			q, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatalf("%s: %v", sc.Text(), err)
			}
			s, _ := strconv.Unquote(q)
			args, rest = append(args, s), strings.TrimPrefix(rest[len(q):], " ")
		}
		last := len(args) - 1
		if got := answer(args[:last]); got != args[last] {
			t.Errorf("%q: got %s, want %s", args[:last], got, args[last])
		}
		lines++
	}
	if lines < 800 {
		t.Errorf("only %d lines", lines)
	}
}

// answer formats or parses as a line of java.txt says.
func answer(args []string) string {
	if args[0] == "F" || args[0] == "P" {
		return answerTime(args)
	}
	s, err := CompileSimple(args[1], time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return "P"
	}
	loc, err := time.LoadLocation(args[3])
	if err != nil {
		return err.Error()
	}
	if args[0] == "f" {
		ms, _ := strconv.ParseInt(args[2], 10, 64)
		return "=" + string(s.Append(nil, ms, loc))
	}
	ms, ok := s.Parse([]byte(args[2]), loc)
	if !ok {
		return "E"
	}
	return fmt.Sprintf("=%d", ms)
}

func answerTime(args []string) string {
	f, err := Compile(args[1])
	if err != nil {
		return "P"
	}
	if args[0] == "F" {
		ms, _ := strconv.ParseInt(args[2], 10, 64)
		ns, _ := strconv.Atoi(args[3])
		out, err := f.Append(nil, types.TS{Ms: ms, Ns: int32(ns)})
		if err != nil {
			return "E"
		}
		return "=" + string(out)
	}
	ts, ok := f.Parse([]byte(args[2]))
	if !ok {
		return "E"
	}
	return fmt.Sprintf("=%d.%d", ts.Ms, ts.Ns)
}

func TestWrongPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"yyyy'", "a quote is not closed"},
		{"yyyy]", "] without a ["},
		{"T", "letter T has no meaning"},
		{"ddd", "too many letters d"},
		{"{", "{ is reserved"},
		{"cc", "cc has no meaning"},
		{"pp", "p must stand before another letter"},
	} {
		if _, err := Compile(c.pattern); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.pattern, err, c.want)
		}
	}
	for _, pattern := range []string{"n", "'x", "yyyy b"} {
		if _, err := CompileSimple(pattern, time.Now()); err == nil {
			t.Errorf("%s is taken", pattern)
		}
	}
}

func TestSwitches(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	s, err := CompileSimple("yyyy-MM-dd HH:mm:ss", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   string
		want int64
	}{
		{"2024-03-10 01:59:59", 1710053999}, {"2024-03-10 02:30:00", 1710055800}, {"2024-03-10 03:00:00", 1710054000},
		{"2024-11-03 00:59:59", 1730609999}, {"2024-11-03 01:30:00", 1730615400}, {"2024-11-03 02:00:00", 1730617200},
	} {
		if ms, ok := s.Parse([]byte(c.in), loc); !ok || ms != c.want*1000 {
			t.Errorf("%s: got %d, want %d", c.in, ms/1000, c.want)
		}
	}
}

func BenchmarkFormat(b *testing.B) {
	f, err := Compile("yyyy-MM-dd HH:mm:ss")
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	for b.Loop() {
		if buf, err = f.Append(buf[:0], types.TS{Ms: 1709210096789}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkParse(b *testing.B) {
	f, err := Compile("yyyy-MM-dd HH:mm:ss")
	if err != nil {
		b.Fatal(err)
	}
	in := []byte("2024-02-29 12:34:56")
	for b.Loop() {
		if _, ok := f.Parse(in); !ok {
			b.Fatal("not parsed")
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
