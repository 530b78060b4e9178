package runtime

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/graph"
	"github.com/millstream-io/millstream/internal/state"
)

func TestSet(t *testing.T) {
	set := func(options map[string]string) (Config, error) {
		var c Config
		err := c.Set(func(name string) (string, bool) { v, ok := options[name]; return v, ok })
		return c, err
	}
	c, err := set(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (checkpoint.Config{Interval: 10_000, Timeout: 600_000, Retained: 1}); c.Checkpoint != want {
		t.Errorf("checkpoints by default: %+v", c.Checkpoint)
	}
	if want := (Restart{Attempts: 5, Delay: 100, MaxDelay: 60_000, ResetAfter: 3_600_000, Multiplier: 1.5}); c.Restart != want {
		t.Errorf("restarts by default: %+v", c.Restart)
	}
	c, err = set(map[string]string{
		"execution.checkpointing.interval": "1 s", "execution.checkpointing.num-retained": "3",
		"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "-1", "restart-strategy.fixed-delay.delay": "20 ms",
	})
	if err != nil || c.Checkpoint.Interval != 1000 || c.Checkpoint.Retained != 3 ||
		c.Restart != (Restart{Attempts: -1, Delay: 20, MaxDelay: 20, Multiplier: 1}) {
		t.Errorf("%+v %v", c, err)
	}
	if c, err = set(map[string]string{"restart-strategy.type": "none"}); err != nil || c.Restart != (Restart{}) {
		t.Errorf("none: %+v %v", c.Restart, err)
	}
	for name, value := range map[string]string{
		"execution.checkpointing.interval":                      "soon",
		"restart-strategy.type":                                 "sometimes",
		"restart-strategy.exponential-delay.backoff-multiplier": "0.5",
		"state.backend.type":                                    "tape",
		"memory.limit":                                          "63 mb",
	} {
		if _, err := set(map[string]string{name: value}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %s: %v", name, value, err)
		}
	}
}

func TestSetState(t *testing.T) {
	for value, want := range map[string]StateConfig{
		"": {Backend: state.Disk}, "auto": {Backend: state.Disk}, "rocksdb": {Backend: state.Disk}, "disk": {Backend: state.Disk},
		"memory": {Backend: state.Memory}, "HASHMAP": {Backend: state.Memory},
	} {
		var c Config
		err := c.Set(func(name string) (string, bool) {
			if name == optMemory {
				return "1 gb", true
			}
			return value, name == optBackend && value != ""
		})
		if err != nil || c.State.Backend != want.Backend || c.State.Budget.Limit() != 1<<30 {
			t.Errorf("%q: %+v %v", value, c.State, err)
		}
	}
}

// TestUsableMemory reads what machines and containers say.
func TestUsableMemory(t *testing.T) {
	const machine = "MemTotal:       16384 kB\nMemFree: 1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing":   {nil, unknownMemory},
		"machine":   {map[string]string{"/proc/meminfo": machine}, 16 << 20},
		"unlimited": {map[string]string{"/proc/meminfo": machine, "/sys/fs/cgroup/memory.max": "max\n"}, 16 << 20},
		"container": {map[string]string{"/proc/meminfo": machine, "/sys/fs/cgroup/memory.max": "1048576\n"}, 1 << 20},
		"a group above": {map[string]string{"/proc/meminfo": machine, "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/memory.max": "2097152\n",
			"/sys/fs/cgroup/a/b/memory.max": "max"}, 2 << 20},
		"old groups": {map[string]string{"/proc/meminfo": machine, "/proc/self/cgroup": "5:cpu,memory:/x\n",
			"/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "3145728", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}, 3 << 20},
	} {
		got := usableMemory(func(name string) ([]byte, error) {
			if text, ok := c.files[name]; ok {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		})
		if got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if n := defaultMemory(); n < state.MinBudget {
		t.Errorf("the default is %d", n)
	}
}

func TestFitQueues(t *testing.T) {
	g := &graph.Graph{Nodes: []*graph.Node{{Parallelism: 4, Inputs: make([]graph.Edge, 2)}}}
	c := Config{QueueBytes: 4 << 20, State: StateConfig{Budget: state.NewBudget(state.Base+64<<20, false)}}
	if err := c.fitQueues(g); err != nil || c.QueueBytes != 1<<20 {
		t.Errorf("%d %v", c.QueueBytes, err)
	}
	c.State.Budget = state.NewBudget(state.Base+2<<20, false)
	if err := c.fitQueues(g); err == nil || err.Error() != "memory.limit is 42 MiB, and the 8 inputs of the job's tasks need at least 44 MiB; raise memory.limit, or lower parallelism.default" {
		t.Error(err)
	}
}

func TestBackoff(t *testing.T) {
	b := backoff{Restart: Restart{Attempts: 4, Delay: 100, MaxDelay: 250, ResetAfter: 1000, Multiplier: 2}}
	var got []string
	for _, ran := range []int64{1, 1, 1, 5000, 1, 1, 1, 1} {
		delay, ok := b.next(ran)
		got = append(got, fmt.Sprint(delay, ok))
	}
	if s := strings.Join(got, ", "); s != "100 true, 200 true, 250 true, 100 true, 200 true, 250 true, 250 true, 0 false" {
		t.Error(s)
	}
}
