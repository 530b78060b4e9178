package nexmark

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/connector/nexmark/gen"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// rowOf is the ROW of one kind, with all fields or those named.
func rowOf(k gen.Kind, names ...string) types.Field {
	var fields []types.Field
	for _, c := range gen.Columns(k) {
		if names == nil || slices.Contains(names, c.Name()) {
			fields = append(fields, types.Field{Name: c.Name(), Type: typeOf(c)})
		}
	}
	return types.Field{Name: k.Name(), Type: types.RowOf(fields...)}
}

// full is the schema of the table of all events.
func full() *types.Schema {
	return types.NewSchema(types.Field{Name: typeColumn, Type: types.Of(types.Int)}, rowOf(gen.Person), rowOf(gen.Auction), rowOf(gen.Bid))
}

type options map[string]string

func tableOf(t testing.TB, schema *types.Schema, values options) *connector.Table {
	t.Helper()
	o, err := format.NewOptions(Def.Options, values, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &connector.Table{
		Name: "events", Schema: schema, Physical: full(), Options: o, Parallelism: 1, Stderr: &bytes.Buffer{},
	}
}

func sourceOf(t testing.TB, schema *types.Schema, values options) connector.Source {
	t.Helper()
	s, err := Def.NewSource(tableOf(t, schema, values))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func splitsOf(t testing.TB, s connector.Source) []connector.Split {
	t.Helper()
	splits, err := s.Discover(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return splits
}

func open(t testing.TB, s connector.Source, split connector.Split, position []byte) connector.Reader {
	t.Helper()
	ctx := &connector.ReaderContext{Context: context.Background(), Now: func() int64 { return time.Now().UnixMilli() }, Wake: func() {}}
	r, err := s.Open(ctx, split, position)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// readAll returns the lines of all rows of a reader.
func readAll(t testing.TB, r connector.Reader, most int) []string {
	t.Helper()
	var lines []string
	for {
		c, err := r.Read(most)
		if err != nil {
			t.Fatal(err)
		}
		if c.Batch != nil {
			if c.Batch.Size() > most {
				t.Fatalf("asked for %d rows, got %d", most, c.Batch.Size())
			}
			lines = append(lines, linesOf(t, c.Batch)...)
		}
		switch c.Status {
		case connector.End:
			return lines
		case connector.Wait:
			t.Fatal("the reader waits, but nothing holds it up")
		}
	}
}

// linesOf writes each row of a batch of the full schema as its canonical line.
func linesOf(t testing.TB, b *batch.Batch) []string {
	t.Helper()
	kinds := b.Cols[0].(*batch.Fixed[int32]).Values
	lines := make([]string, b.Size())
	for i, kind := range kinds {
		for k := range gen.Kinds {
			row := b.Cols[k+1].(*batch.Row)
			if row.Valid.Get(i) != (k == int(kind)) || row.Len() != b.Size() {
				t.Fatalf("row %d of kind %d: column %s is null: %v", i, kind, gen.Kind(k).Name(), row.Valid.IsNull(i))
			}
			for _, field := range row.Cols {
				if field.Validity().Get(i) != row.Valid.Get(i) || field.Len() != row.Len() {
					t.Fatalf("row %d: a field of a null row must be null, and of no other", i)
				}
			}
		}
		cells := []string{string("PAB"[kind])}
		for _, field := range b.Cols[kind+1].(*batch.Row).Cols {
			switch v := field.(type) {
			case *batch.Fixed[int64]:
				cells = append(cells, strconv.FormatInt(v.Values[i], 10))
			case *batch.Bytes:
				cells = append(cells, string(v.At(i)))
			}
		}
		lines[i] = strings.Join(cells, "|")
	}
	return lines
}

// want are the lines of a split by the generator itself.
func want(t testing.TB, p gen.Params, s gen.Split) []string {
	t.Helper()
	g, err := gen.New(p)
	if err != nil {
		t.Fatal(err)
	}
	r := g.NewRows()
	lines := make([]string, s.Len(p.Events))
	r.Read(s, 0, len(lines))
	for i := range lines {
		lines[i] = string(r.AppendLine(nil, i))
	}
	return lines
}

func TestRows(t *testing.T) {
	params := gen.Params{Events: 10_030, Rate: 500, Seed: 7, Base: 1000, Disorder: 16, Late: 300, LateMs: 20}
	values := options{"events": "10030", "rate": "500", "seed": "7", "base-ms": "1000", "disorder": "16", "late": "300", "late-ms": "20"}
	for _, more := range []options{
		{}, {"parallelism": "3"}, {"preload": "true"}, {"preload": "true", "parallelism": "3", "batch": "1500"},
	} {
		s := sourceOf(t, full(), merge(values, more))
		for i, split := range splitsOf(t, s) {
			lines := want(t, params, gen.Split{Index: int64(i), Of: int64(len(splitsOf(t, s)))})
			for _, most := range []int{1, 3, 1024, 4096, 1 << 30} {
				if got := readAll(t, open(t, s, split, nil), most); !slices.Equal(got, lines) {
					t.Errorf("%v: split %s read by %d: %d rows that are not the %d expected", more, split.ID, most, len(got), len(lines))
				}
			}
		}
	}
}

func merge(sets ...options) options {
	all := options{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

// A reader goes on behind any chunk, and gives the rows that the first one would have given.
func TestResume(t *testing.T) {
	for _, preload := range []string{"false", "true"} {
		s := sourceOf(t, full(), options{"events": "9000", "parallelism": "2", "preload": preload})
		split := splitsOf(t, s)[1]
		lines := want(t, gen.Defaults(9000), gen.Split{Index: 1, Of: 2})
		first, read := open(t, s, split, nil), 0
		for status := connector.More; status != connector.End; {
			c, err := first.Read(700)
			if err != nil {
				t.Fatal(err)
			}
			read, status = read+c.Batch.Size(), c.Status
			if got := readAll(t, open(t, s, split, c.Position), 500); !slices.Equal(got, lines[read:]) {
				t.Errorf("preload %s: after %d rows %d come, not the other %d", preload, read, len(got), len(lines)-read)
			}
		}
	}
}

func TestDiscoverAfterRestore(t *testing.T) {
	s := sourceOf(t, full(), options{"events": "10", "parallelism": "2"})
	splits, err := s.Discover(context.Background(), map[string]bool{"1-of-4": true})
	if err != nil || len(splits) != 0 {
		t.Errorf("a restored job found new splits %v, %v", splits, err)
	}
}

// Columns and fields that a query does not need are not made.
func TestProjection(t *testing.T) {
	schema := types.NewSchema(rowOf(gen.Bid, "price", "dateTime", "extra"), rowOf(gen.Auction, "dateTime"))
	b, err := open(t, sourceOf(t, schema, options{"events": "100"}), splitsOf(t, sourceOf(t, schema, options{"events": "100"}))[0], nil).Read(100)
	if err != nil {
		t.Fatal(err)
	}
	bid, auction := b.Batch.Cols[0].(*batch.Row), b.Batch.Cols[1].(*batch.Row)
	price, times, extra := bid.Cols[0].(*batch.Fixed[int64]), bid.Cols[1].(*batch.Fixed[int64]), bid.Cols[2].(*batch.Bytes)
	if got := fmt.Sprintf("%d %d %s", price.Values[5], times.Values[5], extra.At(5)); got != "18221890 1767254395000 iafxjmfcwibskotkqcbvdilfugzmjyzcmgthbaiybethfjodcaeuowsoixhdgwy" {
		t.Error("bid 5 is", got)
	}
	if shared := auction.Cols[0].(*batch.Fixed[int64]); &shared.Values[0] != &times.Values[0] {
		t.Error("the times of auctions and bids are made twice")
	}
	if bid.Typ.String() != schema.Fields[0].Type.String() || price.Typ.Kind != types.BigInt || times.Typ.Kind != types.Timestamp {
		t.Error("types are", bid.Typ, price.Typ, times.Typ)
	}
}

func TestPreloadedBatchesAreHandedOutAsTheyAre(t *testing.T) {
	table := tableOf(t, full(), options{"events": "10000", "preload": "true"})
	s, err := Def.NewSource(table)
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, s, splitsOf(t, s)[0], nil).(*reader)
	if got := table.Stderr.(*bytes.Buffer).String(); got != "nexmark events 1-of-1: preloaded 10000 rows\n" {
		t.Errorf("said %q", got)
	}
	for _, b := range slices.Clone(r.ready) {
		c, err := r.Read(batch.DefaultSize)
		if err != nil || c.Batch != b {
			t.Fatalf("got another batch than the one made: %v", err)
		}
	}
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wakes := make(chan struct{}, 1)
		ctx := &connector.ReaderContext{
			Context: context.Background(),
			Now:     func() int64 { return time.Now().UnixMilli() },
			Wake:    func() { wakes <- struct{}{} },
		}
		s := sourceOf(t, full(), options{"events": "10000", "pace": "4000"})
		r, err := s.Open(ctx, splitsOf(t, s)[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		start, rows := time.Now(), 0
		for status := connector.More; status != connector.End; {
			c, err := r.Read(1000)
			if err != nil {
				t.Fatal(err)
			}
			if status = c.Status; status == connector.Wait {
				<-wakes
				continue
			}
			rows += c.Batch.Size()
			if due := start.Add(time.Duration(rows-1) * time.Second / 4000); time.Now().Before(due.Truncate(time.Millisecond)) {
				t.Fatalf("row %d came after %v", rows, time.Since(start))
			}
		}
		if took := time.Since(start); rows != 10000 || took < 2490*time.Millisecond || took > 2510*time.Millisecond {
			t.Errorf("%d rows took %v", rows, took)
		}
	})
}

func TestBadOptions(t *testing.T) {
	for _, c := range []struct {
		options options
		want    string
	}{
		{options{"events": "-1"}, "'events' = '-1': must be from 0 to 9223372036854775"},
		{options{"events": "1", "disorder": "3"}, "'disorder' = '3': must be a power of two from 1 to 65536"},
		{options{"events": "1", "parallelism": "0"}, "'parallelism' = '0': must be from 1 to 2147483647"},
		{options{"events": "1", "batch": "0"}, "'batch' = '0': must be from 1 to 2147483647"},
		{options{"events": "1", "pace": "-1"}, "'pace' = '-1': must be a number of rows per second, or 0"},
	} {
		_, err := Def.NewSource(tableOf(t, full(), c.options))
		if err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.options, err, c.want)
		}
	}
}

func TestBadColumns(t *testing.T) {
	bigint := types.Of(types.BigInt)
	for _, c := range []struct {
		field types.Field
		want  string
	}{
		{types.Field{Name: "event_type", Type: bigint}, `column "event_type" must be INT, not BIGINT`},
		{types.Field{Name: "bids", Type: bigint}, `column "bids" is none of the connector nexmark, which has event_type, person, auction and bid`},
		{types.Field{Name: "bid", Type: bigint}, `column "bid" must be a nullable ROW, as each event is of one kind, not BIGINT`},
		{types.Field{Name: "bid", Type: rowOf(gen.Bid, "price").Type.NotNull()},
			"column \"bid\" must be a nullable ROW, as each event is of one kind, not ROW<`price` BIGINT> NOT NULL"},
		{types.Field{Name: "bid", Type: types.RowOf(types.Field{Name: "price", Type: types.Of(types.Int)})},
			`field price of column "bid" must be BIGINT, not INT`},
		{types.Field{Name: "person", Type: types.RowOf(types.Field{Name: "age", Type: bigint})},
			`column "person" has no field "age" in the connector nexmark; its fields are id, name, emailAddress, creditCard, city, state, dateTime, extra`},
	} {
		table := tableOf(t, full(), options{"events": "1"})
		table.Physical = types.NewSchema(c.field)
		if _, err := Def.NewSource(table); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.field.Name, err, c.want)
		}
	}
}

func TestDamagedSplitAndPosition(t *testing.T) {
	s := sourceOf(t, full(), options{"events": "1"})
	good := splitsOf(t, s)[0]
	for _, c := range []struct {
		split    connector.Split
		position []byte
		want     string
	}{
		{connector.Split{ID: "x", Data: []byte{0}}, nil, `table events: split "x" is damaged: its data is 00`},
		{connector.Split{ID: "x", Data: []byte{2, 2}}, nil, `table events: split "x" is damaged: its data is 0202`},
		{good, []byte{0x80}, `table events: the saved position 80 of split "1-of-1" is damaged`},
	} {
		if _, err := s.Open(&connector.ReaderContext{}, c.split, c.position); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.split, err, c.want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name   string
		schema *types.Schema
	}{
		{"bid numbers", types.NewSchema(full().Fields[0], rowOf(gen.Bid, "auction", "bidder", "price", "dateTime"))},
		{"q0", types.NewSchema(full().Fields[0], rowOf(gen.Person, "dateTime"), rowOf(gen.Auction, "dateTime"),
			rowOf(gen.Bid, "auction", "bidder", "price", "dateTime", "extra"))},
		{"all", full()},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := sourceOf(b, c.schema, options{"events": "1000000000000"})
			r := open(b, s, splitsOf(b, s)[0], nil)
			rows := 0
			for b.Loop() {
				chunk, err := r.Read(batch.DefaultSize)
				if err != nil {
					b.Fatal(err)
				}
				rows += chunk.Batch.Size()
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
