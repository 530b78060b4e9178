package fn

import (
	"bytes"
	"slices"
	"unicode"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/regex"
	"github.com/millstream-io/millstream/types"
)

func init() {
	Register(splitIndexDef, splitDef, strToMapDef)
}

var splitIndexDef = &Def{
	Name: "SPLIT_INDEX", Family: familyString, Syntax: "SPLIT_INDEX(string, separator, index)",
	Doc: "Splits the string at the separator and returns the part with the index, counted from 0; NULL if there is none. " +
		"The separator is a string, or the code of a character (1 to 255). An empty separator splits at each white space. " +
		"An empty string has no parts.",
	Examples: []Example{
		{"SPLIT_INDEX('a,b,c', ',', 2)", "c :: STRING"},
		{"SPLIT_INDEX('a||b', '||', 1)", "b :: STRING"},
		{"SPLIT_INDEX('a,b', 44, 1)", "b :: STRING"},
		{"SPLIT_INDEX('a,,c', ',', 1)", "'' :: STRING"},
		{"SPLIT_INDEX('a,b,c', ',', 3)", "NULL :: STRING"},
		{"SPLIT_INDEX('', ',', 0)", "NULL :: STRING"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		sep := TextArg
		if len(c.Args) > 1 && IntArg.Has(c.Args[1].Type) {
			sep = IntArg
		}
		params, err := c.Check(3, TextArg, sep, IntArg)
		if err != nil {
			return nil, err
		}
		t := types.StringType()
		return &Bound{Params: params, Result: t, Kernel: splitIndexKernel(c, t)}, nil
	}),
}

func splitIndexKernel(c *Call, t types.Type) Kernel {
	sep, sepConst := c.ConstText(1)
	index, indexConst := c.ConstInt(2)
	switch {
	case sepConst && indexConst:
		by := []byte(sep)
		return cutKernel(t, 8, func(s []byte) ([]byte, bool) { return splitIndex(s, by, int(index)) })
	case c.Args[1].Type.IsChar():
		return TextErr3(t, func(dst, s, by []byte, n int32) ([]byte, bool, error) {
			part, ok := splitIndex(s, by, int(n))
			return append(dst, part...), ok, nil
		})
	}
	return TextErr3(t, func(dst, s []byte, char, n int32) ([]byte, bool, error) {
		if char < 1 || char > 255 {
			return dst, false, nil
		}
		var by [2]byte
		part, ok := splitIndex(s, appendChar(by[:0], rune(char)), int(n))
		return append(dst, part...), ok, nil
	})
}

// splitIndex returns the n-th part of s, split at sep, or at white space if sep
// is empty; false if there is none.
func splitIndex(s, sep []byte, n int) ([]byte, bool) {
	if n < 0 || len(s) == 0 {
		return nil, false
	}
	if len(sep) == 0 {
		return spaceIndex(s, n)
	}
	if len(sep) == 1 {
		for ; ; n-- {
			at := bytes.IndexByte(s, sep[0])
			switch {
			case at < 0:
				return s, n == 0
			case n == 0:
				return s[:at], true
			}
			s = s[at+1:]
		}
	}
	for ; ; n-- {
		at := bytes.Index(s, sep)
		switch {
		case at < 0:
			return s, n == 0
		case n == 0:
			return s[:at], true
		}
		s = s[at+len(sep):]
	}
}

// spaceIndex returns the n-th part of s, split at each white space.
func spaceIndex(s []byte, n int) ([]byte, bool) {
	start := 0
	for i := 0; i < len(s); {
		r, width := decodeChar(s[i:])
		if isJavaSpace(r) {
			if n == 0 {
				return s[start:i], true
			}
			n, start = n-1, i+width
		}
		i += width
	}
	return s[start:], n == 0
}

// isJavaSpace reports whether Java counts a character as white space: blanks
// that break, and some controls.
func isJavaSpace(r rune) bool {
	switch r {
	case '\u00A0', '\u2007', '\u202F':
		return false
	case '\t', '\n', '\v', '\f', '\r', '\u001C', '\u001D', '\u001E', '\u001F':
		return true
	}
	return unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp)
}

var splitDef = &Def{
	Name: "SPLIT", Family: familyString, Syntax: "SPLIT(string, separator)",
	Doc: "Returns the parts of the string between the separators, as an array. An empty separator splits between all characters. " +
		"An empty string has no parts.",
	Examples: []Example{
		{"SPLIT('a,,c', ',')", "[a, , c] :: ARRAY<STRING> NOT NULL"},
		{"SPLIT('abc', '')", "[a, b, c] :: ARRAY<STRING> NOT NULL"},
		{"CARDINALITY(SPLIT('', ','))", "0 :: INT NOT NULL"},
		{"SPLIT('a,b', CAST(NULL AS STRING))", "NULL :: ARRAY<STRING>"},
	},
	Bind: Signature(types.ArrayOf(types.StringType()), splitKernel, TextArg, TextArg),
}

func splitKernel(t types.Type) Kernel {
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		s, sep := args[0].(*batch.Bytes), args[1].(*batch.Bytes)
		return Lists(t, rows, func(elem batch.Vector, i int) (bool, error) {
			appendParts(elem.(*batch.Bytes), s.At(i), sep.At(i))
			return true, nil
		})
	}
}

// Lists makes the values of an ARRAY result: f appends the elements of the
// value at a position to elem, and returns false for a null.
func Lists(t types.Type, rows Rows, f func(elem batch.Vector, i int) (bool, error)) (batch.Vector, error) {
	out := &batch.List{Typ: t, Offsets: make([]int32, rows.N+1), Elem: batch.New(*t.Elem, rows.Len())}
	next := 0
	for k, n := 0, rows.Len(); k < n; k++ {
		i := rows.At(k)
		for ; next < i; next++ {
			out.Offsets[next+1] = out.Offsets[next]
		}
		ok, err := f(out.Elem, i)
		if err != nil {
			return nil, rowError(i, err)
		}
		if !ok {
			out.Valid = MarkNull(out.Valid, rows.N, i)
		}
		out.Offsets[i+1] = int32(out.Elem.Len())
		next = i + 1
	}
	for ; next < rows.N; next++ {
		out.Offsets[next+1] = out.Offsets[next]
	}
	return out, nil
}

// appendParts appends the parts of s to elem.
func appendParts(elem *batch.Bytes, s, sep []byte) {
	if len(s) == 0 {
		return
	}
	if len(sep) == 0 {
		for len(s) > 0 {
			n := nextChar(s, 0)
			elem.Append(s[:n])
			s = s[n:]
		}
		return
	}
	for {
		at := bytes.Index(s, sep)
		if at < 0 {
			elem.Append(s)
			return
		}
		elem.Append(s[:at])
		s = s[at+len(sep):]
	}
}

var strToMapDef = &Def{
	Name: "STR_TO_MAP", Family: familyString, Syntax: "STR_TO_MAP(string [, pairs, keys])",
	Doc: "Splits the string into pairs at the regular expression pairs (a comma if it is not given), each pair into a key and a value at the first match of keys " +
		"(an equals sign), and returns them as a map. A pair without a value has NULL; of equal keys the last one counts.",
	Examples: []Example{
		{"STR_TO_MAP('k1=v1,k2=v2')['k2']", "v2 :: STRING"},
		{"STR_TO_MAP('k')", "{k=NULL} :: MAP<STRING, STRING>"},
		{"STR_TO_MAP('k:v;x:y', ';', ':')['x']", "y :: STRING"},
		{"STR_TO_MAP('k=v', CAST(NULL AS STRING), '=')", "NULL :: MAP<STRING, STRING>"},
	},
	Bind: typed(func(c *Call) (*Bound, error) {
		if len(c.Args) == 2 {
			return nil, Argf(-1, "STR_TO_MAP takes 1 or 3 arguments, not 2")
		}
		params, err := c.Check(1, TextArg, TextArg, TextArg)
		if err != nil {
			return nil, err
		}
		t := types.MapOf(types.StringType(), types.StringType())
		return &Bound{Params: params, Result: t, Kernel: strToMapKernel(t)}, nil
	}),
}

func strToMapKernel(t types.Type) Kernel {
	pairs, keys := &delimiter{}, &delimiter{}
	var buf []mapPair
	return func(rows Rows, args []batch.Vector) (batch.Vector, error) {
		out := &batch.Map{Typ: t, Offsets: make([]int32, 1, rows.N+1), Keys: batch.New(*t.Key, 0), Vals: batch.New(*t.Elem, 0)}
		s := args[0].(*batch.Bytes)
		for k, n := 0, rows.Len(); k < n; k++ {
			i := rows.At(k)
			for out.Len() < i {
				out.Close()
			}
			by, is := []byte(","), []byte("=")
			if len(args) == 3 {
				by, is = args[1].(*batch.Bytes).At(i), args[2].(*batch.Bytes).At(i)
			}
			if err := pairs.set(by); err != nil {
				return nil, rowError(i, err)
			}
			if err := keys.set(is); err != nil {
				return nil, rowError(i, err)
			}
			var err error
			if buf, err = appendPairs(out, s.At(i), pairs, keys, buf); err != nil {
				return nil, rowError(i, err)
			}
			out.Close()
		}
		for out.Len() < rows.N {
			out.Close()
		}
		return out, nil
	}
}

// mapPair is a pair of STR_TO_MAP; val is nil for NULL.
type mapPair struct{ key, val []byte }

// appendPairs appends the pairs of s to m, the last of equal keys only, and
// returns buf, the space that it used.
func appendPairs(m *batch.Map, s []byte, pairs, keys *delimiter, buf []mapPair) ([]mapPair, error) {
	all := buf[:0]
	var index map[string]int // of the keys, if there are many
	err := pairs.split(s, func(part []byte) error {
		p := mapPair{key: part}
		from, to, err := keys.find(part)
		if err != nil {
			return err
		}
		if from >= 0 {
			p = mapPair{part[:from], part[to:]}
		}
		if len(all) == 16 && index == nil {
			index = make(map[string]int, 2*len(all))
			for i, q := range all {
				index[string(q.key)] = i
			}
		}
		at, found := index[string(p.key)]
		if index == nil {
			at = slices.IndexFunc(all, func(q mapPair) bool { return bytes.Equal(q.key, p.key) })
			found = at >= 0
		}
		if found {
			all[at] = p
			return nil
		}
		if index != nil {
			index[string(p.key)] = len(all)
		}
		all = append(all, p)
		return nil
	})
	for _, p := range all {
		m.Keys.(*batch.Bytes).Append(p.key)
		if p.val == nil {
			m.Vals.AppendNull()
		} else {
			m.Vals.(*batch.Bytes).Append(p.val)
		}
	}
	return all, err
}

// delimiter is a regular expression at which texts are split, with a short cut
// for single characters that mean themselves.
type delimiter struct {
	text  []byte
	ready bool
	char  byte
	plain bool
	re    *regex.Regexp
}

// set prepares the delimiter, unless it is the one that is already there.
func (d *delimiter) set(text []byte) error {
	if d.ready && bytes.Equal(d.text, text) {
		return nil
	}
	d.text, d.ready, d.plain = append(d.text[:0], text...), false, false
	if len(text) == 1 && text[0] < 0x80 && !bytes.Contains([]byte(`.$|()[{^?*+\`), text) {
		d.char, d.plain, d.ready = text[0], true, true
		return nil
	}
	re, err := regex.Compile(string(text))
	if err != nil {
		return err
	}
	d.re, d.ready = re, true
	return nil
}

// find returns where the first delimiter stands in s that ends behind its
// start; an empty match is a delimiter, but not at the start of s.
func (d *delimiter) find(s []byte) (from, to int, err error) {
	if d.plain {
		at := bytes.IndexByte(s, d.char)
		return at, at + 1, nil
	}
	from, to = -1, -1
	err = d.re.Each(s, func(m []int) bool {
		if m[1] == 0 {
			return true
		}
		from, to = m[0], m[1]
		return false
	})
	return from, to, err
}

// split calls f with the parts of s between the delimiters. Empty parts at the
// end are left out.
func (d *delimiter) split(s []byte, f func([]byte) error) error {
	last, empty := 0, 0
	var failed error
	part := func(from, to int) bool {
		p := s[last:from]
		last = to
		if len(p) == 0 {
			empty++
			return true
		}
		for ; empty > 0 && failed == nil; empty-- {
			failed = f(p[:0])
		}
		if failed == nil {
			failed = f(p)
		}
		return failed == nil
	}
	if !d.plain {
		err := d.re.Each(s, func(m []int) bool { return m[1] == 0 || part(m[0], m[1]) })
		if err != nil {
			return err
		}
	} else {
		for at := bytes.IndexByte(s, d.char); at >= 0 && part(last+at, last+at+1); {
			at = bytes.IndexByte(s[last:], d.char)
		}
	}
	if failed == nil {
		part(len(s), len(s))
	}
	return failed
}
