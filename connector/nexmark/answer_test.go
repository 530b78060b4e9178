package nexmark_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	_ "github.com/millstream-io/millstream/connector/checksum"
	_ "github.com/millstream-io/millstream/connector/nexmark"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

// bids is what query q0 selects.
func bids() *types.Schema {
	bigint := types.Of(types.BigInt)
	return types.NewSchema(
		types.Field{Name: "auction", Type: bigint}, types.Field{Name: "bidder", Type: bigint}, types.Field{Name: "price", Type: bigint},
		types.Field{Name: "dateTime", Type: types.TimeOf(types.Timestamp, 3)}, types.Field{Name: "extra", Type: types.StringType()})
}

func optionsOf(t *testing.T, d *connector.Def, values map[string]string) *format.Options {
	t.Helper()
	o, err := format.NewOptions(d.Options, values, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// All bids of a stream have the checksum that other implementations of the workload, and of the sink, find for q0.
func TestAllBidsHaveTheExpectedChecksum(t *testing.T) {
	for _, c := range []struct {
		options map[string]string
		want    string
	}{
		{map[string]string{"events": "100000"}, "checksum q0 +I=92000 -U=0 +U=0 -D=0 net=92000 sum=04552ed2a87add85\n"},
		{map[string]string{"events": "1000000", "disorder": "1024", "late": "50", "preload": "true"},
			"checksum q0 +I=920000 -U=0 +U=0 -D=0 net=920000 sum=f11af577cc0db10a\n"},
	} {
		if testing.Short() && len(c.options) > 1 {
			continue
		}
		var out bytes.Buffer
		sumUp(t, readBids(t, c.options), &out)
		if out.String() != c.want {
			t.Errorf("%v: %swant %s", c.options, out.String(), c.want)
		}
	}
}

// readBids reads all events and selects the bids.
func readBids(t *testing.T, options map[string]string) []*batch.Batch {
	t.Helper()
	def := connector.Lookup("nexmark")
	schema := types.NewSchema(
		types.Field{Name: "event_type", Type: types.Of(types.Int)}, types.Field{Name: "bid", Type: types.RowOf(bids().Fields...)})
	source, err := def.NewSource(&connector.Table{
		Name: "events", Schema: schema, Physical: schema, Options: optionsOf(t, def, options), Parallelism: 2, Stderr: &bytes.Buffer{},
	})
	if err != nil {
		t.Fatal(err)
	}
	splits, err := source.Discover(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var batches []*batch.Batch
	for _, split := range splits {
		r, err := source.Open(&connector.ReaderContext{Context: context.Background()}, split, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for status := connector.More; status != connector.End; {
			c, err := r.Read(batch.DefaultSize)
			if err != nil {
				t.Fatal(err)
			}
			status = c.Status
			var selected []int32
			for i, kind := range c.Batch.Cols[0].(*batch.Fixed[int32]).Values {
				if kind == 2 {
					selected = append(selected, int32(i))
				}
			}
			batches = append(batches, batch.Of(bids(), c.Batch.Cols[1].(*batch.Row).Cols, c.Batch.Size()).WithSel(selected))
		}
	}
	return batches
}

// sumUp deals batches to two writers of a checksum sink.
func sumUp(t *testing.T, batches []*batch.Batch, out *bytes.Buffer) {
	t.Helper()
	def := connector.Lookup("checksum")
	sink, err := def.NewSink(&connector.Table{Name: "q0", Schema: bids(), Physical: bids(), Options: optionsOf(t, def, nil), Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	for subtask := range 2 {
		w, err := sink.Open(&connector.WriterContext{Context: context.Background(), Subtask: subtask, Parallelism: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range batches {
			if i%2 == subtask {
				if err := w.Write(b); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := w.Barrier(1, true); err != nil {
			t.Fatal(err)
		}
		if err := w.Committed(1); err != nil {
			t.Fatal(err)
		}
	}
}
