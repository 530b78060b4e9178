// Package diag holds source positions and the diagnostics that refer to them.
//
// Every stage of the SQL front end reports through a List, so that one run shows several mistakes, in the order in which
// they stand in the script, each as "job.sql:14:9: message; hint".
package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Max is the number of errors that a List keeps; more would only bury the first ones.
const Max = 20

// Pos is a place in a source text. Line and Col count from 1, Col in characters. The zero Pos means "no known place".
type Pos struct {
	Line, Col int
}

// Known reports whether p names a place.
func (p Pos) Known() bool { return p.Line > 0 }

// Before reports whether p stands before q.
func (p Pos) Before(q Pos) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col
}

func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Span is a stretch of source text: Start is the place of its first character, End the place behind its last one, and
// Lo and Hi are the same two as byte offsets.
type Span struct {
	Start, End Pos
	Lo, Hi     int
}

// Pos returns the place where the span begins.
func (s Span) Pos() Pos { return s.Start }

// Extent returns the span itself; syntax nodes embed a Span and so give theirs.
func (s Span) Extent() Span { return s }

// To returns the span from the start of s to the end of end.
func (s Span) To(end Span) Span {
	s.End, s.Hi = end.End, end.Hi
	return s
}

// Text cuts the span out of the source that it belongs to; it is empty when the span lies outside of src.
func (s Span) Text(src string) string {
	if s.Lo < 0 || s.Hi > len(src) || s.Lo > s.Hi {
		return ""
	}
	return src[s.Lo:s.Hi]
}

// Error is one diagnostic. Hint says what to do next and may be empty.
type Error struct {
	Pos  Pos
	Msg  string
	Hint string
}

// Errorf returns an Error at pos without a hint.
func Errorf(pos Pos, format string, args ...any) *Error {
	return &Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error prints "14:9: message; hint", without the place if it is not known.
func (e *Error) Error() string { return e.In("") }

// In prints the error with the name of the file that it stands in: "job.sql:14:9: message; hint". Passwords in addresses, which
// come from options, are not shown.
func (e *Error) In(file string) string {
	var b strings.Builder
	if file != "" {
		b.WriteString(file)
		b.WriteByte(':')
	}
	if e.Pos.Known() {
		b.WriteString(e.Pos.String())
		b.WriteByte(':')
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(Redact(e.Msg))
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// List collects the errors of one run. The zero List is ready to use.
type List []*Error

// Add appends an error; once Max is reached the last in the text gives way to an earlier one.
func (l *List) Add(e *Error) {
	*l = append(*l, e)
	if len(*l) > Max {
		l.Sort()
		*l = (*l)[:Max]
	}
}

// Errorf adds an error without a hint and returns it, so that a hint can be set.
func (l *List) Errorf(pos Pos, format string, args ...any) *Error {
	e := Errorf(pos, format, args...)
	l.Add(e)
	return e
}

// Append adds all errors of other.
func (l *List) Append(other List) {
	for _, e := range other {
		l.Add(e)
	}
}

// Sort orders the errors by position, keeps the order of those at one place, and drops repetitions.
func (l *List) Sort() {
	slices.SortStableFunc(*l, func(a, b *Error) int {
		switch {
		case a.Pos.Before(b.Pos):
			return -1
		case b.Pos.Before(a.Pos):
			return 1
		}
		return 0
	})
	*l = slices.CompactFunc(*l, func(a, b *Error) bool { return *a == *b })
}

// Err returns the list as an error, or nil if it is empty.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// Error prints one error a line, in order of position.
func (l List) Error() string { return l.In("") }

// In prints one error a line, in order of position, each with the name of the file.
func (l List) In(file string) string {
	sorted := slices.Clone(l)
	sorted.Sort()
	lines := make([]string, len(sorted))
	for i, e := range sorted {
		lines[i] = e.In(file)
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As access to each error.
func (l List) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}
