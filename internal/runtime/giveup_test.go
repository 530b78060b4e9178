package runtime_test

import (
	"context"
	"testing"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/op"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/runtime/rttest"
	"github.com/millstream-io/millstream/internal/vfs"
)

// endless gives out rows without end when the input has ended, and pauses when it
// is told to.
type endless struct{}

// OnBatch implements op.Operator.
func (endless) OnBatch(int, *batch.Batch, op.Output) error { return nil }

// OnWatermark implements op.WatermarkHandler.
func (e endless) OnWatermark(wm int64, out op.Output) (int64, error) {
	if wm < op.MaxWatermark {
		return wm, nil
	}
	_, err := e.Resume(out)
	return wm, err
}

// Resume implements op.Resumer.
func (endless) Resume(out op.Output) (bool, error) {
	for !out.Full() {
		out.Emit(rttest.Batch(rows(0, 100, 1)...))
	}
	return true, nil
}

// TestStopWithinAnOutput: a job that is told to stop while a window gives out its
// rows does not wait for the end of that, in the task of the sink or in front of
// it, and has not finished.
func TestStopWithinAnOutput(t *testing.T) {
	for name, ship := range map[string]bool{"chained": false, "exchanged": true} {
		t.Run(name, func(t *testing.T) {
			src, sink := rttest.NewSource(10, rows(0, 100, 1)), rttest.NewSink()
			begun := make(chan struct{})
			first := true
			sink.OnWrite = func(*batch.Batch) error {
				if first {
					first = false
					close(begun)
				}
				return nil
			}
			g := &rttest.Graph{}
			n := g.Op("endless", 1, func() (op.Operator, error) { return endless{}, nil }, rttest.ByKey(g.Source("source", 1, src, 0)))
			edge := rttest.Forward(n)
			if ship {
				edge = rttest.ByKey(n)
			}
			g.Sink("sink", 1, sink, edge)
			data := openData(t, vfs.NewMem())
			defer data.Close()
			r := runtime.NewRunner(&g.Graph, runtime.Config{}, data)
			result := make(chan error, 1)
			go func() { result <- r.Run(context.Background()) }()
			<-begun
			r.Stop()
			select {
			case err := <-result:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("the job does not stop")
			}
			if data.Finished() || data.Latest() != nil || len(sink.Published()) > 0 {
				t.Errorf("finished %v, latest %v, %d rows", data.Finished(), data.Latest(), len(sink.Published()))
			}
		})
	}
}
