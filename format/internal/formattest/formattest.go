// Package formattest helps the tests of formats: it makes decoders from a few
// words, decodes in all ways in which a caller may cut the data, and prints
// rows.
package formattest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// Case is a format with its columns and options.
type Case struct {
	Def     *format.Def
	Schema  *types.Schema
	Options map[string]string
	// Wanted names the columns to read; nil means all.
	Wanted []string
	// Counts receives the counters, Samples the texts of samples.
	Counts  map[string]int64
	Samples []string
}

// Config returns the configuration of a decoder or encoder.
func (c *Case) Config() (*format.Config, error) {
	o, err := format.NewOptions(c.Def.Options, c.Options, nil)
	if err != nil {
		return nil, err
	}
	cfg := &format.Config{Table: "t", Physical: c.Schema, Schema: c.Schema, Options: o}
	c.Counts = map[string]int64{}
	c.Samples = nil
	cfg.Count = func(name string, n int64) { c.Counts[name] += n }
	cfg.Sample = func(_ string, text func() string) { c.Samples = append(c.Samples, text()) }
	names := c.Wanted
	if names == nil {
		names = c.Schema.Names()
	} else {
		cfg.Schema = types.NewSchema()
		for _, n := range names {
			cfg.Schema.Fields = append(cfg.Schema.Fields, c.Schema.Fields[c.Schema.Index(n)])
		}
	}
	for _, n := range names {
		cfg.Wanted = append(cfg.Wanted, c.Schema.Index(n))
	}
	return cfg, nil
}

// Decoder makes a decoder.
func (c *Case) Decoder() (format.Decoder, *format.Config, error) {
	cfg, err := c.Config()
	if err != nil {
		return nil, nil, err
	}
	d, err := c.Def.NewDecoder(cfg)
	return d, cfg, err
}

// Decode decodes data as one file, at most max rows at a time, from windows of
// the given size that grow when a record does not fit.
func (c *Case) Decode(data []byte, window, max int) (*batch.Batch, error) {
	d, cfg, err := c.Decoder()
	if err != nil {
		return nil, err
	}
	dst := batch.NewBatch(cfg.Schema, 4)
	if h, ok := d.(format.HeaderDecoder); ok {
		n, _, err := h.DecodeHeader(data, true)
		if err != nil {
			return dst, err
		}
		data = data[n:]
	}
	for size := window; len(data) > 0; {
		end := min(size, len(data))
		// The copy shows references to the data that a decoder keeps.
		part := append([]byte(nil), data[:end]...)
		used, _, err := d.Decode(part, end == len(data), dst, max)
		for i := range part {
			part[i] = '#'
		}
		if err != nil {
			return dst, err
		}
		if used == 0 {
			if end == len(data) {
				return dst, fmt.Errorf("nothing used of the last %d bytes", len(data))
			}
			size *= 2
			continue
		}
		data, size = data[used:], window
	}
	return dst, nil
}

// Rows decodes data in several ways, checks that all agree, and returns the
// rows as Print prints them.
func (c *Case) Rows(t testing.TB, data []byte) (string, error) {
	t.Helper()
	b, err := c.Decode(data, len(data)+1, 1<<30)
	if b == nil {
		return "", err
	}
	want := Print(b)
	counts := c.Counts
	for _, cut := range [][2]int{{1, 1 << 30}, {7, 1}, {64, 3}} {
		got, gotErr := c.Decode(data, cut[0], cut[1])
		if text := Print(got); text != want || (gotErr == nil) != (err == nil) || fmt.Sprint(c.Counts) != fmt.Sprint(counts) {
			t.Errorf("windows of %d bytes, %d rows a time: %v %v\n%s\nwant %v %v\n%s", cut[0], cut[1], gotErr, c.Counts, text, err, counts, want)
		}
	}
	return want, err
}

// Print prints the rows of a batch, one a line, cells separated by " | ".
// It does not depend on how the product prints values.
func Print(b *batch.Batch) string {
	var out strings.Builder
	for r := range b.Rows() {
		for c, v := range b.Cols {
			if c > 0 {
				out.WriteString(" | ")
			}
			if v.Len() != b.Size() {
				fmt.Fprintf(&out, "(column of %d values in %d rows)", v.Len(), b.Size())
				continue
			}
			printValue(&out, v, b.At(r))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func printValue(out *strings.Builder, v batch.Vector, i int) {
	if v.Validity().IsNull(i) {
		out.WriteString("NULL")
		return
	}
	switch v := v.(type) {
	case *batch.Fixed[bool]:
		fmt.Fprint(out, v.Values[i])
	case *batch.Fixed[int8]:
		fmt.Fprint(out, v.Values[i])
	case *batch.Fixed[int16]:
		fmt.Fprint(out, v.Values[i])
	case *batch.Fixed[int32]:
		fmt.Fprint(out, v.Values[i])
	case *batch.Fixed[int64]:
		fmt.Fprint(out, v.Values[i])
	case *batch.Fixed[float32]:
		fmt.Fprint(out, v.Values[i])
	case *batch.Fixed[float64]:
		fmt.Fprint(out, v.Values[i])
	case *batch.Fixed[types.Int128]:
		out.WriteString(v.Values[i].String())
	case *batch.Fixed[types.TS]:
		fmt.Fprintf(out, "%d+%d", v.Values[i].Ms, v.Values[i].Ns)
	case *batch.Bytes:
		if v.Typ.IsBinary() {
			fmt.Fprintf(out, "x'%x'", v.At(i))
			return
		}
		fmt.Fprintf(out, "%q", v.At(i))
	default:
		printNested(out, v, i)
	}
}

func printNested(out *strings.Builder, v batch.Vector, i int) {
	switch v := v.(type) {
	case *batch.List:
		out.WriteByte('[')
		for k := v.Offsets[i]; k < v.Offsets[i+1]; k++ {
			if k > v.Offsets[i] {
				out.WriteString(", ")
			}
			printValue(out, v.Elem, int(k))
		}
		out.WriteByte(']')
	case *batch.Map:
		out.WriteByte('{')
		for k := v.Offsets[i]; k < v.Offsets[i+1]; k++ {
			if k > v.Offsets[i] {
				out.WriteString(", ")
			}
			printValue(out, v.Keys, int(k))
			out.WriteByte('=')
			printValue(out, v.Vals, int(k))
		}
		out.WriteByte('}')
	case *batch.Row:
		out.WriteByte('(')
		for k, c := range v.Cols {
			if k > 0 {
				out.WriteString(", ")
			}
			printValue(out, c, i)
		}
		out.WriteByte(')')
	}
}
