package runtime_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/fn"
	"github.com/millstream-io/millstream/internal/runtime"
)

// TestRecurs: a job is not started again where it would fail in the same way.
func TestRecurs(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{fn.Failf(3, "bad row"), true},
		{&connector.ChangedError{Msg: "another file"}, true},
		{errors.New("the disk is full"), false},
	} {
		if got := runtime.Recurs(&runtime.Error{Err: fmt.Errorf("table t: %w", c.err)}); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
