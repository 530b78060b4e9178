// Package regex matches regular expressions as Java does: syntax and meaning
// are those of java.util.regex, which is what Flink SQL promises, look-around,
// back-references and possessive quantifiers included.
//
// Text is UTF-8, in which a lone surrogate stands as its three bytes; characters
// are code points, so that no match begins within one. It is matched by
// backtracking; a search that takes too many steps is given up with an error
// rather than let run for hours.
//
// What differs from Java: blocks of Unicode (\p{InGreek}), \X, \N{name} and
// \b{g} are not known; a group that a possessive quantifier or a negative
// look-ahead has entered in vain keeps nothing; (?<=a.*), which Java lets pass
// by mistake, is an error like all look-behinds without a greatest length.
package regex

import (
	"bytes"
	"errors"
)

// A Regexp is a compiled expression. It is used on one goroutine at a time,
// since it keeps the memory of the last search for the next one.
type Regexp struct {
	prog   []inst
	groups int
	regs   int
	names  map[string]int

	// prefix is text with which every match begins.
	prefix []byte
	// first says which bytes a match can begin with; nil if it can be empty or
	// begin with any.
	first *[256]bool
	// anchored: a match begins at the start of the text only.
	anchored bool

	m machine
}

// ErrTooComplex is returned by a search that was given up.
var ErrTooComplex = errors.New("the regular expression takes too many steps on this text; " +
	"nested repetitions such as (a+)+ are the usual reason")

// An UnsupportedError is an expression that Java knows and this package does
// not.
type UnsupportedError struct{ What string }

// Error implements error.
func (e *UnsupportedError) Error() string {
	return "the regular expression uses " + e.What + ", which is not supported"
}

// A SyntaxError is an expression that Java refuses as well.
type SyntaxError struct {
	// Pos is the offset in the expression, in bytes.
	Pos int
	Msg string
}

// Error implements error.
func (e *SyntaxError) Error() string { return "the regular expression is wrong: " + e.Msg }

// Compile parses an expression. The error is a *SyntaxError or an
// *UnsupportedError.
func Compile(expr string) (*Regexp, error) {
	p := &parser{src: expr, names: map[string]int{}}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	c := &compiler{}
	c.node(root)
	c.emit(inst{op: iMatch})
	if c.err != nil {
		return nil, c.err
	}
	re := &Regexp{prog: c.prog, groups: p.groups, regs: c.regs, names: p.names}
	re.prefix, re.anchored = leading(root)
	if len(re.prefix) == 0 {
		re.first = firstBytes(root)
	}
	return re, nil
}

// Groups returns the number of capturing groups.
func (re *Regexp) Groups() int { return re.groups }

// Find searches s from offset from on. It returns the offsets of the match and
// of each group, two a group, -1 for a group that took no part; nil if there is
// no match. The result is good until the next search.
func (re *Regexp) Find(s []byte, from int) ([]int, error) { return re.find(s, from, from) }

// find is Find with the end of the match before, which is what \G means.
func (re *Regexp) find(s []byte, from, last int) ([]int, error) {
	m := &re.m
	m.begin(re, s, last)
	for at := from; at <= len(s); {
		if at = re.candidate(s, at); at < 0 {
			return nil, nil
		}
		if end, ok := m.try(at); ok {
			m.caps[0], m.caps[1] = at, end
			return m.caps, nil
		}
		if m.steps < 0 {
			return nil, ErrTooComplex
		}
		at = nextChar(s, at)
	}
	return nil, nil
}

// MatchAll reports whether the expression matches the whole of s.
func (re *Regexp) MatchAll(s []byte) (bool, error) {
	m := &re.m
	m.begin(re, s, 0)
	m.whole = true
	_, ok := m.try(0)
	m.whole = false
	if m.steps < 0 {
		return false, ErrTooComplex
	}
	return ok, nil
}

// Each calls f with each match in s, in order, until f returns false. A match
// is looked for where the one before it ended, or a character further if that
// one was empty.
func (re *Regexp) Each(s []byte, f func(m []int) bool) error {
	for from, last := 0, 0; from <= len(s); {
		m, err := re.find(s, from, last)
		if err != nil || m == nil || !f(m) {
			return err
		}
		last, from = m[1], m[1]
		if m[0] == m[1] {
			from = nextChar(s, from)
		}
	}
	return nil
}

// candidate returns the first offset from at on where a match may begin, or -1.
func (re *Regexp) candidate(s []byte, at int) int {
	switch {
	case re.anchored && at > 0:
		return -1
	case re.anchored:
		return at
	case len(re.prefix) > 0:
		i := bytes.Index(s[at:], re.prefix)
		if i < 0 {
			return -1
		}
		return at + i
	case re.first != nil:
		for ; at < len(s); at++ {
			if re.first[s[at]] {
				return at
			}
		}
		return -1
	}
	return at
}

// nextChar returns the offset of the character behind the one at i; beyond the
// end of s for the end itself.
func nextChar(s []byte, i int) int {
	for i++; i < len(s) && s[i]&0xC0 == 0x80; i++ {
	}
	return i
}

// prevChar returns the offset of the character before offset i > 0.
func prevChar(s []byte, i int) int {
	for i--; i > 0 && s[i]&0xC0 == 0x80; i-- {
	}
	return i
}
