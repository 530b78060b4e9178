package json

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// FuzzJSON decodes one record, and compares what is accepted, and the values,
// with an independent parser.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"s":"x","l":["p",null],"r":{"a":-5}}`, `{"s":"\ud83d\ude00\n","a":9223372036854775807}`,
		`{"z":[[{"q":1.5e3}],tru]}`, `{"a":01}`, `{"a" : 1 , "s":"b" }x`, `{"r":{"a":1,"a":2},"a":3,"a":4}`, `[{"a":1},{"a":2}]`,
		`{"l":[],"z":{"":-0.0E-5}}`, `{"s":"` + strings.Repeat("long ", 20) + `\t"}`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, "", " ",
	} {
		f.Add([]byte(s))
	}
	tab := table([]string{ignore}, field("a", bigint), field("s", str), field("l", types.ArrayOf(str)),
		field("r", types.RowOf(field("a", bigint))))
	d, cfg, err := tab.Decoder()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, rec []byte) {
		if bytes.ContainsFunc(rec, func(r rune) bool { return r < ' ' }) || bytes.Contains(rec, []byte("\xef\xbb\xbf")) {
			// The decoder takes control characters in strings, and byte-order marks.
			return
		}
		dst := batch.NewBatch(cfg.Schema, 1)
		clear(tab.Counts)
		if _, _, err := d.Decode(append(rec, '\n'), true, dst, 100); err != nil {
			t.Fatal(err)
		}
		want := reference(rec)
		for i, v := range dst.Cols {
			if v.Len() != dst.Size() {
				t.Fatalf("column %d has %d values in %d rows", i, v.Len(), dst.Size())
			}
		}
		switch {
		case len(rec) == 0 || rec[0] == '[' || bytes.HasPrefix(bytes.TrimSpace(rec), []byte("[")):
		case want == nil && tab.Counts["skipped_records"] == 0:
			t.Fatalf("%q was taken, but is no object", rec)
		case want != nil && dst.Size() != 1:
			t.Fatalf("%q was not taken: %v", rec, tab.Counts)
		case want != nil:
			compare(t, rec, dst, want)
		}
	})
}

// reference returns the last value of each name of an object; nil if rec is
// none.
func reference(rec []byte) map[string]jsontext.Value {
	dec := jsontext.NewDecoder(bytes.NewReader(rec), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if dec.PeekKind() != '{' {
		return nil
	}
	out := map[string]jsontext.Value{}
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil
		}
		key := name.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil
		}
		out[key] = v.Clone()
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	if _, err := dec.ReadToken(); err == nil || len(bytes.TrimSpace(rec[dec.InputOffset():])) > 0 {
		return out // the row stays, the rest is counted
	}
	return out
}

func compare(t *testing.T, rec []byte, got *batch.Batch, want map[string]jsontext.Value) {
	a := got.Cols[0].(*batch.Fixed[int64])
	n, err := strconv.ParseInt(string(want["a"]), 10, 64)
	if null := a.Valid.IsNull(0); err == nil && (null || a.Values[0] != n) {
		t.Fatalf("%q: a is %v (null %v)", rec, a.Values[0], null)
	} else if (want["a"] == nil || want["a"].Kind() == 'n') && !null {
		t.Fatalf("%q: a is not null", rec)
	}
	s := got.Cols[1].(*batch.Bytes)
	checkText(t, rec, want["s"], s, 0)
	l := got.Cols[2].(*batch.List)
	if want["l"].Kind() != '[' {
		return
	}
	dec := jsontext.NewDecoder(bytes.NewReader(want["l"]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, _ = dec.ReadToken()
	k := int(l.Offsets[0])
	for ; dec.PeekKind() != ']'; k++ {
		v, err := dec.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		checkText(t, rec, v, l.Elem.(*batch.Bytes), k)
	}
	if k != int(l.Offsets[1]) {
		t.Fatalf("%q: list of %d", rec, l.Offsets[1])
	}
}

func checkText(t *testing.T, rec []byte, v jsontext.Value, got *batch.Bytes, i int) {
	if v.Kind() != '"' {
		return
	}
	want, err := jsontext.AppendUnquote(nil, v)
	if err != nil || bytes.Contains(want, []byte("\uFFFD")) || !utf8.Valid(v) {
		return // a lone surrogate, or no UTF-8
	}
	if got.Valid.IsNull(i) || !bytes.Equal(got.At(i), want) {
		t.Fatalf("%q: %q, want %q", rec, got.At(i), want)
	}
}
