package blackhole

import (
	"testing"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/types"
)

func TestDrops(t *testing.T) {
	s, err := Def.NewSink(&connector.Table{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Accepts() != connector.AllModes {
		t.Errorf("%+v", s.Accepts())
	}
	w, err := s.Open(&connector.WriterContext{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := batch.NewBatch(types.NewSchema(types.Field{Name: "a", Type: types.Of(types.Int)}), 1)
	state, barrierErr := w.Barrier(1, true)
	if err := w.Write(b); err != nil || state != nil || barrierErr != nil || w.Committed(1) != nil || w.Close() != nil {
		t.Error("a call failed")
	}
}
