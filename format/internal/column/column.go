// Package column holds what decoders need to build vectors beyond appending:
// taking values back when a record turns out to be broken, and the words of
// errors about values.
package column

import (
	"strings"
	"unicode/utf8"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format/internal/parse"
	"github.com/millstream-io/millstream/types"
)

// Truncate drops the values of an appendable vector from n on. Elements of
// nested values that were not closed are dropped as well.
func Truncate(v batch.Vector, n int) {
	switch v := v.(type) {
	case *batch.Fixed[bool]:
		v.Values = v.Values[:n]
	case *batch.Fixed[int8]:
		v.Values = v.Values[:n]
	case *batch.Fixed[int16]:
		v.Values = v.Values[:n]
	case *batch.Fixed[int32]:
		v.Values = v.Values[:n]
	case *batch.Fixed[int64]:
		v.Values = v.Values[:n]
	case *batch.Fixed[float32]:
		v.Values = v.Values[:n]
	case *batch.Fixed[float64]:
		v.Values = v.Values[:n]
	case *batch.Fixed[types.Int128]:
		v.Values = v.Values[:n]
	case *batch.Fixed[types.TS]:
		v.Values = v.Values[:n]
	case *batch.Bytes:
		v.Offsets = v.Offsets[:n+1]
		v.Data = v.Data[:v.Offsets[n]]
	case *batch.Null:
		v.N = n
	default:
		truncateNested(v, n)
	}
}

func truncateNested(v batch.Vector, n int) {
	switch v := v.(type) {
	case *batch.List:
		v.Offsets = v.Offsets[:n+1]
		Truncate(v.Elem, int(v.Offsets[n]))
	case *batch.Map:
		v.Offsets = v.Offsets[:n+1]
		Truncate(v.Keys, int(v.Offsets[n]))
		Truncate(v.Vals, int(v.Offsets[n]))
	case *batch.Row:
		v.N = n
		for _, c := range v.Cols {
			Truncate(c, n)
		}
	}
}

// Describe says why text is no value of a type: "abc" is not an INT.
func Describe(text string, t types.Type, f parse.Fault) string {
	name := t.WithNull(true).String()
	switch f {
	case parse.Range:
		return text + " does not fit " + name
	case parse.Fraction:
		return text + " has a fraction, which " + name + " cannot hold"
	case parse.Calendar:
		return text + " is not in the calendar, so it is not " + article(name)
	case parse.UTF8:
		return text + " is not valid UTF-8"
	}
	return text + " is not " + article(name)
}

func article(name string) string {
	if strings.ContainsRune("AEIOU", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// maxShown is how much of a value an error shows.
const maxShown = 60

// Cut shortens a text for an error.
func Cut(b []byte) string {
	if len(b) <= maxShown {
		return string(b)
	}
	n := maxShown
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "…"
}
