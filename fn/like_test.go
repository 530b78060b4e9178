package fn

import (
	"math/rand/v2"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// naiveLike matches by trying all ways; ok is false for a wrong pattern.
func naiveLike(s, pattern []string, escape string) (match, ok bool) {
	if len(pattern) == 0 {
		return len(s) == 0, true
	}
	first, rest := pattern[0], pattern[1:]
	switch {
	case first == escape:
		if len(rest) == 0 || rest[0] != "%" && rest[0] != "_" && rest[0] != escape {
			return false, false
		}
		first, rest = rest[0], rest[1:]
	case first == "%":
		for i := range len(s) + 1 {
			if match, ok = naiveLike(s[i:], rest, escape); match || !ok {
				return match, ok
			}
		}
		return false, true
	case first == "_":
		if len(s) == 0 {
			_, ok = naiveLike(nil, rest, escape)
			return false, ok
		}
		return naiveLike(s[1:], rest, escape)
	}
	if len(s) == 0 {
		_, ok = naiveLike(nil, rest, escape)
		return false, ok
	}
	match, ok = naiveLike(s[1:], rest, escape)
	return match && s[0] == first, ok
}

func TestLikeAgainstAllWays(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	boolean := types.Of(types.Boolean).NotNull()
	matches := 0
	for range 30000 {
		s, pattern, escape := likeText(r, "ab😀é\n", 8), likeText(r, "ab😀é%%__!", 7), ""
		if r.IntN(2) == 0 {
			escape = "!"
		}
		want, ok := naiveLike(charsOf(s), charsOf(pattern), escape)
		p, err := compileLike(pattern, []byte(escape))
		if ok != (err == nil) {
			t.Fatalf("pattern %q with escape %q: %v", pattern, escape, err)
		}
		if !ok {
			continue
		}
		if want {
			matches++
		}
		if got := p.match(s); got != want {
			t.Fatalf("%q LIKE %q ESCAPE %q: %t", s, pattern, escape, got)
		}
		in := batch.NewBytes(types.StringType(), 1, 0)
		in.Append(s)
		out, err := p.kernel(boolean)(Rows{N: 1}, []batch.Vector{in})
		if err != nil || out.(*batch.Fixed[bool]).Values[0] != want {
			t.Fatalf("the kernel for %q LIKE %q ESCAPE %q: not %t (%v)", s, pattern, escape, want, err)
		}
	}
	if matches < 1000 {
		t.Errorf("only %d texts matched", matches)
	}
}

func likeText(r *rand.Rand, chars string, most int) []byte {
	from := []rune(chars)
	var out []rune
	for range r.IntN(most + 1) {
		out = append(out, from[r.IntN(len(from))])
	}
	return []byte(string(out))
}

func TestSimilar(t *testing.T) {
	tests := []struct {
		s, pattern, escape string
		want               string
	}{
		{"abc", "abc", "", "yes"}, {"abc", "ab", "", "no"}, {"abc", "a%", "", "yes"}, {"abc", "a_", "", "no"}, {"a\nc", "a%c", "", "yes"},
		{"a\nc", "a_c", "", "no"}, {"abab", "(ab)*", "", "yes"}, {"abab", "(ab){3}", "", "no"}, {"b", "a|b", "", "yes"}, {"", "a*", "", "yes"},
		{"é", "[a-é]", "", "yes"}, {"x", "[^a-c]", "", "yes"}, {"-", "[a-]", "", "yes"}, {"axc", "a.c", "", "yes"}, {"a$", "a$", "", "yes"}, {`a\`, `a\`, "", "yes"},
		{"7", "[[:DIGIT:]]", "", "yes"}, {"7", "[[:digit:]]", "", "yes"}, {"7", "[[:Digit:]]", "", "error"}, {"Q", "[[:UPPER:]]", "", "yes"},
		{"z", "[[:ALNUM:][:SPACE:]]", "", "yes"}, {" ", "[[:ALNUM:][:SPACE:]]", "", "yes"}, {"\t", "[[:WHITESPACE:]]", "", "yes"},
		{"%", "!%", "!", "yes"}, {"a", "!%", "!", "no"}, {"!", "!!", "!", "yes"}, {"a", "!a", "!", "error"}, {"(", "!(", "!", "yes"},
		{"]", "[!]]", "!", "yes"}, {"a", "a", "!!", "error"}, {"a", "a", "", "yes"},
		{"a", "a]", "", "error"}, {"a", "[a", "", "error"}, {"a", "[[:ALPHA", "", "error"}, {"a", "[*]", "", "error"}, {"a", "(a", "", "error"}, {"a", "*", "", "error"},
	}
	for _, tt := range tests {
		re, err := compileSimilar(tt.pattern, tt.escape, tt.escape != "")
		got := "error"
		if err == nil {
			ok, err := re.MatchAll([]byte(tt.s))
			if err != nil {
				t.Fatal(err)
			}
			got = map[bool]string{true: "yes", false: "no"}[ok]
		}
		if got != tt.want {
			t.Errorf("%q SIMILAR TO %q ESCAPE %q: %s (%v), want %s", tt.s, tt.pattern, tt.escape, got, err, tt.want)
		}
	}
}
