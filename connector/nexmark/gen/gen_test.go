package gen

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// walk calls visit for rows from to from+count-1 of a split.
func walk(t testing.TB, p Params, s Split, from, count int64, visit func(r *Rows, i int)) {
	t.Helper()
	g, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	rows := g.NewRows()
	for end := from + count; from < end; {
		n := min(end-from, 1777) // no divisor of a block or a group
		rows.Read(s, from, int(n))
		for i := range int(n) {
			visit(rows, i)
		}
		from += n
	}
}

func TestEvents(t *testing.T) {
	vectors, err := os.ReadFile("testdata/vectors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(vectors)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		position, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		p, err := strconv.ParseInt(position, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		walk(t, Defaults(1_000_000), Whole, p, 1, func(r *Rows, i int) {
			if got := string(r.AppendEvent(nil, i)); got != want {
				t.Errorf("position %d:\n got %s\nwant %s", p, got, want)
			}
			checked++
		})
	}
	if checked != 13 {
		t.Errorf("checked %d events, not 13", checked)
	}
}

// streams are checksums over the canonical lines of whole streams; chain depends on their order, sum does not.
var streams = []struct {
	events, rate, disorder, late, seed int64
	sum, chain                         uint64
}{
	{100_000, 100_000, 1, 0, 1, 0x8a318cac5dad6840, 0x8dd86e1dca0e1389},
	{1_000_000, 100_000, 1, 0, 1, 0xb965f5edf5ccd7b6, 0x48799597c3b2834c},
	{1_000_000, 10_000_000, 1, 0, 1, 0x912be9af816068e4, 0x8ff4a933ba67d660},
	{1_000_000, 100_000, 1024, 50, 1, 0x3e6b35fe3a9a6739, 0x32ec329047e8a9a8},
	{1_000_000, 10_000_000, 2, 0, 7, 0x45a94c535dd4b729, 0xbae716d1460d3233},
}

func TestStreams(t *testing.T) {
	checked := streams
	if testing.Short() {
		checked = streams[:1] // the others take a second each
	}
	for _, s := range checked {
		p := Params{Events: s.events, Rate: s.rate, Seed: s.seed, Base: DefaultBase, Disorder: s.disorder, Late: s.late, LateMs: DefaultLateMs}
		t.Run(fmt.Sprintf("%+v", p), func(t *testing.T) {
			var sum, chain uint64
			var line []byte
			walk(t, p, Whole, 0, p.Events, func(r *Rows, i int) {
				line = r.AppendLine(line[:0], i)
				h := xxhash.Sum64(line)
				sum += h
				chain = mix(chain ^ h)
			})
			if sum != s.sum || chain != s.chain {
				t.Errorf("sum %016x chain %016x, want %016x %016x", sum, chain, s.sum, s.chain)
			}
		})
	}
}

// Readers share a stream: together they give each of its events once, and each gives its own in the stream's order.
func TestSplits(t *testing.T) {
	for _, events := range []int64{0, 1, 999, 1000, 1001, 5000, 12_345} {
		for of := range int64(5) {
			of++
			seen := make([]bool, events)
			for index := range of {
				s, last := Split{index, of}, int64(-1)
				for i := range s.Len(events) {
					p := s.Position(i)
					switch {
					case p >= events || p/1000%of != index:
						t.Fatalf("row %d of split %+v of %d events has position %d", i, s, events, p)
					case seen[p] || p <= last:
						t.Fatalf("position %d comes twice or out of order in split %+v", p, s)
					}
					seen[p], last = true, p
				}
			}
			if n := int64(bytes.Count(fmt.Append(nil, seen), []byte("true"))); n != events {
				t.Errorf("%d splits of %d events have %d", of, events, n)
			}
		}
	}
}

func TestSplitRowsAreThoseOfTheStream(t *testing.T) {
	p := Params{Events: 10_500, Rate: 300, Seed: 3, Base: DefaultBase, Disorder: 4096, Late: 100, LateMs: 77}
	whole := make([]string, 0, p.Events)
	walk(t, p, Whole, 0, p.Events, func(r *Rows, i int) { whole = append(whole, string(r.AppendLine(nil, i))) })
	for index := range int64(3) {
		s, row := Split{index, 3}, int64(123)
		walk(t, p, s, row, s.Len(p.Events)-row, func(r *Rows, i int) {
			if got, want := string(r.AppendLine(nil, i)), whole[s.Position(row)]; got != want {
				t.Fatalf("row %d of split %+v is %s, want %s", row, s, got, want)
			}
			row++
		})
	}
}

func TestDisorderIsAPermutationOfEachGroup(t *testing.T) {
	for disorder := int64(1); disorder <= 65536; disorder *= 2 {
		p := Defaults(2*disorder + disorder/2)
		p.Disorder = disorder
		g, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]bool, p.Events)
		for position := range p.Events {
			n := g.EventAt(position)
			if n/disorder != position/disorder || seen[n] {
				t.Fatalf("disorder %d: position %d has event %d, again or of another group", disorder, position, n)
			}
			if position >= 2*disorder && n != position {
				t.Fatalf("disorder %d: position %d of the incomplete last group has event %d", disorder, position, n)
			}
			seen[n] = true
		}
	}
}

// A column has nothing at the rows of other kinds, also where a block's memory is used again.
func TestOtherKindsHaveNoValues(t *testing.T) {
	const untouched = -77
	g, err := New(Defaults(1000))
	if err != nil {
		t.Fatal(err)
	}
	b := g.NewBlock()
	for _, from := range []int64{0, 7} {
		b.Read(Whole, from, 100)
		types := make([]int32, 100)
		b.Types(types)
		for c := range columnCount {
			ints, off := slices.Repeat([]int64{untouched}, 100), make([]int32, 101)
			var data []byte
			if c.Type() == String {
				data = b.Strings(c, off, []byte("before"))
			} else {
				b.Ints(c, ints)
			}
			for i, k := range types {
				empty := ints[i] == untouched
				if c.Type() == String {
					empty = off[i] == off[i+1]
				}
				if empty != (Kind(k) != c.Kind()) {
					t.Errorf("column %s.%s at row %d of kind %d is empty: %v", c.Kind().Name(), c.Name(), i, k, empty)
				}
			}
			if c.Type() == String && (off[0] != 6 || int(off[100]) != len(data) || string(data[:6]) != "before") {
				t.Errorf("column %s.%s: offsets from %d to %d over %d bytes", c.Kind().Name(), c.Name(), off[0], off[100], len(data))
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		change func(p *Params)
		want   string
	}{
		{func(p *Params) {}, ""},
		{func(p *Params) { p.Events = -1 }, "'events' = '-1': must be from 0 to 9223372036854775"},
		{func(p *Params) { p.Events = 1 << 62 }, "'events' = '4611686018427387904': must be from 0 to 9223372036854775"},
		{func(p *Params) { p.Rate = 0 }, "'rate' = '0': must be at least 1 event per second"},
		{func(p *Params) { p.Disorder = 0 }, "'disorder' = '0': must be a power of two from 1 to 65536"},
		{func(p *Params) { p.Disorder = 48 }, "'disorder' = '48': must be a power of two from 1 to 65536"},
		{func(p *Params) { p.Disorder = 1 << 17 }, "'disorder' = '131072': must be a power of two from 1 to 65536"},
		{func(p *Params) { p.Late = 1001 }, "'late' = '1001': is a number of events per thousand, 0 to 1000"},
		{func(p *Params) { p.LateMs = 0 }, "'late-ms' = '0': must be from 1 to 2147483647"},
		{func(p *Params) { p.Base = -1 << 62 }, "'base-ms' = '-4611686018427387904': with 100 events at 100000 per second the times leave the years 1 to 9999"},
		{func(p *Params) { p.Events, p.Rate = 1<<50, 1 }, "'base-ms' = '1767254395000': with 1125899906842624 events at 1 per second the times leave the years 1 to 9999"},
	} {
		p := Defaults(100)
		c.change(&p)
		got := ""
		if err := p.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", p, got, c.want)
		}
	}
}

// Times before 1970 and far from the base are written right.
func TestTimesAsText(t *testing.T) {
	p := Defaults(3)
	p.Base, p.Rate = -1, 1
	var got []string
	walk(t, p, Whole, 0, 3, func(r *Rows, i int) {
		got = append(got, string(r.appendTime(nil, r.block.Times()[i])))
	})
	want := []string{"1969-12-31 23:59:59.999", "1970-01-01 00:00:00.999", "1970-01-01 00:00:01.999"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func benchmarkColumns(b *testing.B, change func(p *Params), columns ...Column) {
	const rows = 4096
	p := Defaults(1 << 40)
	change(&p)
	g, err := New(p)
	if err != nil {
		b.Fatal(err)
	}
	block := g.NewBlock()
	types, ints, off := make([]int32, rows), make([]int64, rows), make([]int32, rows+1)
	var data []byte
	position := int64(0)
	for b.Loop() {
		block.Read(Whole, position, rows)
		block.Types(types)
		for _, c := range columns {
			if c.Type() == String {
				data = block.Strings(c, off, data[:0])
			} else {
				block.Ints(c, ints)
			}
		}
		position += rows
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkColumns(b *testing.B) {
	ordered := func(*Params) {}
	b.Run("types", func(b *testing.B) { benchmarkColumns(b, ordered) })
	b.Run("bid numbers", func(b *testing.B) { benchmarkColumns(b, ordered, BidAuction, BidBidder, BidPrice, BidTime) })
	b.Run("bid numbers disordered", func(b *testing.B) {
		benchmarkColumns(b, func(p *Params) { p.Disorder, p.Late = 1024, 50 }, BidAuction, BidBidder, BidPrice, BidTime)
	})
	b.Run("q0", func(b *testing.B) { benchmarkColumns(b, ordered, BidAuction, BidBidder, BidPrice, BidTime, BidExtra) })
	b.Run("bid", func(b *testing.B) { benchmarkColumns(b, ordered, Columns(Bid)...) })
	b.Run("all", func(b *testing.B) {
		var all []Column
		for c := range columnCount {
			all = append(all, c)
		}
		benchmarkColumns(b, ordered, all...)
	})
}

func BenchmarkText(b *testing.B) {
	const rows = 4096
	for _, f := range []struct {
		name   string
		append func(r *Rows, dst []byte, i int) []byte
	}{
		{"json", (*Rows).AppendJSON}, {"csv", (*Rows).AppendCSV}, {"line", (*Rows).AppendLine},
	} {
		b.Run(f.name, func(b *testing.B) {
			g, err := New(Defaults(1 << 40))
			if err != nil {
				b.Fatal(err)
			}
			r, position := g.NewRows(), int64(0)
			var line []byte
			for b.Loop() {
				r.Read(Whole, position, rows)
				for i := range rows {
					line = f.append(r, line[:0], i)
				}
				position += rows
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
