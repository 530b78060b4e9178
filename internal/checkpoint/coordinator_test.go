package checkpoint

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestCoordinator runs scripts: one input a line, with what comes out of it
// behind "->". Three tasks: a, b and c.
func TestCoordinator(t *testing.T) {
	tests := []struct {
		name   string
		cfg    Config
		script string
	}{
		{"periodic", Config{Interval: 10, MinPause: 5, Retained: 1}, `
			tick 9 ->
			tick 10 -> inject 1
			tick 20 ->
			ack 21 1 a ->
			ack 21 1 c ->
			ack 22 1 b -> store 1 begun 10
			tick 30 ->
			stored 31 1 -> commit 1
			tick 35 ->
			tick 36 -> inject 2
			ack 37 2 a ->
			ack 37 2 b ->
			ack 37 2 c -> store 2 begun 36
			stored 38 2 -> commit 2, discard 1`},
		{"no interval", Config{}, `
			tick 1000 ->
			trigger 1000 1 -> inject 1
			trigger 1000 0 ->`},
		{"keeps two", Config{Retained: 2}, `
			trigger 1 1 -> inject 1
			all 1 1 -> store 1 begun 1
			stored 1 1 -> commit 1
			trigger 2 2 -> inject 2
			all 2 2 -> store 2 begun 2
			stored 2 2 -> commit 2
			trigger 3 3 -> inject 3
			all 3 3 -> store 3 begun 3
			stored 3 3 -> commit 3, discard 1`},
		{"expires and is tolerated", Config{Interval: 10, Timeout: 5, Tolerable: 1, Retained: 1}, `
			tick 10 -> inject 1
			ack 11 1 b ->
			tick 14 ->
			tick 15 -> release b, failed 1: checkpoint 1 failed in phase align, operator op-a, task a: it took longer than 5 ms; also phase align, operator op-c, task c
			ack 16 1 a -> release a
			ack 17 1 c -> release c
			tick 20 -> inject 2
			ack 21 2 a ->
			tick 25 -> release a, fail: checkpoint 2 failed in phase align, operator op-b, task b: it took longer than 5 ms; also phase align, operator op-c, task c`},
		{"waits for the answers to one that has expired", Config{Interval: 10, Timeout: 5, Tolerable: 2}, `
			tick 10 -> inject 1
			ack 11 1 b ->
			tick 15 -> release b, failed 1: checkpoint 1 failed in phase align, operator op-a, task a: it took longer than 5 ms; also phase align, operator op-c, task c
			tick 20 ->
			ack 21 1 a -> release a
			tick 24 ->
			tick 25 -> failed 1: checkpoint 1 failed in phase align, operator op-c, task c: no other one could begin for 5 ms, since its barrier is still under way
			tick 29 ->
			tick 30 -> fail: checkpoint 1 failed in phase align, operator op-c, task c: no other one could begin for 5 ms, since its barrier is still under way`},
		{"goes on once those have come", Config{Interval: 10, Timeout: 5, Tolerable: 2}, `
			tick 10 -> inject 1
			ack 11 1 b ->
			decline 12 1 a -> release b, failed 1: checkpoint 1 failed in phase upload, operator op-a, task a: full
			tick 20 ->
			ack 21 1 c -> release c
			tick 22 -> inject 2`},
		{"a success ends the row of failures", Config{Tolerable: 1}, `
			trigger 1 1 -> inject 1
			decline 1 1 b -> failed 1: checkpoint 1 failed in phase upload, operator op-b, task b: full
			trigger 2 2 -> inject 2
			all 2 2 -> store 2 begun 2
			stored 2 2 -> commit 2
			trigger 3 3 -> inject 3
			decline 3 3 b -> failed 3: checkpoint 3 failed in phase upload, operator op-b, task b: full
			decline 3 3 c ->`},
		{"a lost manifest ends the run", Config{Tolerable: 9}, `
			trigger 1 1 -> inject 1
			all 1 1 -> store 1 begun 1
			lost 1 1 -> fail: checkpoint 1 failed in phase commit: disk full`},
		{"the last one", Config{Interval: 10, Timeout: 5, Retained: 1}, `
			close 3 -> inject 1 last
			close 3 ->
			tick 100 ->
			trigger 100 0 ->
			all 101 1 -> store 1 begun 3
			stored 102 1 -> commit 1 last
			tick 200 ->`},
		{"the last one waits", Config{Interval: 10, Retained: 1}, `
			tick 10 -> inject 1
			close 11 ->
			all 12 1 -> store 1 begun 10
			stored 13 1 -> commit 1, inject 2 last`},
		{"the last one after a failure", Config{Interval: 10, Timeout: 5, Tolerable: 1}, `
			tick 10 -> inject 1
			close 11 ->
			tick 15 -> failed 1: checkpoint 1 failed in phase align, operator op-a, task a: it took longer than 5 ms; also phase align, operator op-b, task b; also phase align, operator op-c, task c, inject 2 last`},
		{"acknowledged twice", Config{}, `
			trigger 1 1 -> inject 1
			ack 1 1 a ->
			ack 1 1 a -> release a
			ack 1 1 b ->
			ack 1 1 c -> store 1 begun 1`},
		{"one that is asked for", Config{Interval: 10, MinPause: 100, Retained: 1}, `
			tick 10 -> inject 1
			request 11 ->
			request 11 ->
			all 12 1 -> store 1 begun 10
			stored 13 1 -> commit 1, inject 2
			all 14 2 -> store 2 begun 13
			stored 15 2 -> commit 2, discard 1
			request 16 -> inject 3
			savepoint 17 ->
			request 17 ->
			all 18 3 -> store 3 begun 16
			stored 19 3 -> commit 3, discard 2, inject 4 savepoint`},
		{"the last one is the one that is asked for", Config{Interval: 10, Retained: 1}, `
			quiet ->
			request 3 ->
			close 4 -> inject 1 last
			request 5 -> refused`},
		{"a savepoint stays", Config{Retained: 1}, `
			savepoint 1 -> inject 1 savepoint
			all 2 1 -> store 1 begun 1 savepoint
			stored 3 1 -> commit 1 savepoint
			trigger 4 2 -> inject 2
			all 4 2 -> store 2 begun 4
			stored 4 2 -> commit 2
			trigger 5 3 -> inject 3
			all 5 3 -> store 3 begun 5
			stored 5 3 -> commit 3, discard 2`},
		{"a savepoint waits its turn", Config{Interval: 10, Retained: 1}, `
			tick 10 -> inject 1
			savepoint 11 ->
			savepoint 11 ->
			all 12 1 -> store 1 begun 10
			stored 12 1 -> commit 1, inject 2 savepoint
			all 13 2 -> store 2 begun 12 savepoint
			stored 13 2 -> commit 2 savepoint
			tick 22 -> inject 3`},
		{"the last one is a savepoint", Config{Interval: 10, Retained: 1}, `
			tick 10 -> inject 1
			savepoint 11 ->
			close 11 ->
			all 12 1 -> store 1 begun 10
			stored 12 1 -> commit 1, inject 2 last savepoint
			savepoint 12 -> refused
			all 13 2 -> store 2 begun 12 savepoint
			stored 13 2 -> commit 2 last savepoint`},
		{"stopped with a savepoint", Config{Interval: 10, Retained: 1}, `
			close 3 savepoint -> inject 1 last savepoint
			all 4 1 -> store 1 begun 3 savepoint
			stored 4 1 -> commit 1 last savepoint`},
		{"drained", Config{Interval: 10, Retained: 1}, `
			tick 10 -> inject 1
			quiet ->
			all 11 1 -> store 1 begun 10
			savepoint 11 ->
			stored 12 1 -> commit 1
			tick 20 ->
			trigger 21 0 ->
			close 22 -> inject 2 last savepoint`},
		{"a savepoint that fails", Config{Tolerable: 1}, `
			savepoint 1 -> inject 1 savepoint
			decline 2 1 b -> failed 1: checkpoint 1 failed in phase upload, operator op-b, task b: full
			trigger 3 2 -> inject 2`},
		{"deleted and let go", Config{Retained: 1}, `
			savepoint 1 -> inject 1 savepoint
			all 1 1 -> store 1 begun 1 savepoint
			stored 1 1 -> commit 1 savepoint
			trigger 2 2 -> inject 2
			all 2 2 -> store 2 begun 2
			stored 2 2 -> commit 2
			forget 2 ->
			retain 1 ->
			trigger 3 3 -> inject 3
			all 3 3 -> store 3 begun 3
			stored 3 3 -> commit 3, discard 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := New(tt.cfg, []string{"a", "b", "c"}, 0, nil, 0)
			c.Where = atBarrier
			for line := range strings.Lines(strings.TrimSpace(tt.script)) {
				in, want, _ := strings.Cut(strings.TrimSpace(line), "->")
				if got := showActions(input(t, c, in)); got != strings.TrimSpace(want) {
					t.Errorf("%s\n got %s\nwant %s", in, got, want)
				}
			}
		})
	}
}

// atBarrier says that tasks wait for the barrier.
func atBarrier(_ int64, silent []int) (out []Blame) {
	for _, task := range silent {
		name := string(rune('a' + task))
		out = append(out, Blame{Phase: PhaseAlign, Operator: "op-" + name, Task: name})
	}
	return out
}

func input(t *testing.T, c *Coordinator, line string) (actions []Action) {
	t.Helper()
	f := strings.Fields(line)
	num := func(i int) (n int64) {
		if _, err := fmt.Sscan(f[i], &n); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return n
	}
	switch f[0] {
	case "tick":
		return c.Tick(num(1))
	case "trigger":
		id, actions := c.Trigger(num(1))
		if id != num(2) {
			t.Errorf("%s: got number %d", line, id)
		}
		return actions
	case "close":
		actions, _ := c.Close(num(1), f[len(f)-1] == "savepoint")
		return actions
	case "quiet":
		c.Quiet()
		return nil
	case "savepoint":
		actions, ok := c.Savepoint(num(1))
		if !ok {
			actions = append(actions, refused{})
		}
		return actions
	case "request":
		actions, ok := c.Request(num(1))
		if !ok {
			actions = append(actions, refused{})
		}
		return actions
	case "forget":
		c.Forget(num(1))
		return nil
	case "retain":
		c.Retain(num(1))
		return nil
	case "ack":
		return c.Ack(num(1), num(2), &Part{Task: int(f[3][0] - 'a')})
	case "all":
		for task := range 3 {
			actions = append(actions, c.Ack(num(1), num(2), &Part{Task: task})...)
		}
		return actions
	case "decline":
		why := &Failure{Blame: Blame{Phase: PhaseUpload, Operator: "op-" + f[3]}, Err: errors.New("full")}
		return c.Decline(num(1), num(2), int(f[3][0]-'a'), why)
	case "stored":
		return c.Stored(num(1), num(2), nil)
	case "lost":
		return c.Stored(num(1), num(2), errors.New("disk full"))
	}
	t.Fatalf("unknown input %q", line)
	return nil
}

// refused stands for the answer that no savepoint can be taken.
type refused struct{ Action }

func showActions(actions []Action) string {
	var out []string
	marked := func(s string, last, savepoint bool) string {
		if last {
			s += " last"
		}
		if savepoint {
			s += " savepoint"
		}
		return s
	}
	for _, a := range actions {
		switch a := a.(type) {
		case Inject:
			out = append(out, marked(fmt.Sprint("inject ", a.ID), a.Last, a.Savepoint))
		case Store:
			out = append(out, marked(fmt.Sprintf("store %d begun %d", a.ID, a.Time), false, a.Savepoint))
		case Commit:
			out = append(out, marked(fmt.Sprint("commit ", a.ID), a.Last, a.Savepoint))
		case refused:
			out = append(out, "refused")
		case Discard:
			out = append(out, fmt.Sprint("discard ", a.ID))
		case Release:
			out = append(out, "release "+string(rune('a'+a.Part.Task)))
		case Failed:
			out = append(out, fmt.Sprintf("failed %d: %v", a.Err.ID, a.Err))
		case Fail:
			out = append(out, fmt.Sprintf("fail: %v", a.Err))
		}
	}
	return strings.Join(out, ", ")
}

func TestCoordinatorGoesOnBehindRetained(t *testing.T) {
	c := New(Config{Retained: 1}, []string{"a", "b", "c"}, 7, []int64{4, 7}, 0)
	if id, _ := c.Trigger(1); id != 8 {
		t.Fatalf("first checkpoint after 7 is %d", id)
	}
	input(t, c, "all 1 8")
	if got, want := showActions(c.Stored(2, 8, nil)), "commit 8, discard 4, discard 7"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDue(t *testing.T) {
	c := New(Config{Interval: 10, Timeout: 4}, []string{"a"}, 0, nil, 0)
	want := func(at int64, ok bool) {
		t.Helper()
		if gotAt, gotOK := c.Due(); gotOK != ok || ok && gotAt != at {
			t.Fatalf("due %d %v, want %d %v", gotAt, gotOK, at, ok)
		}
	}
	want(10, true)
	c.Tick(10)
	want(14, true)
	c.Ack(11, 1, &Part{})
	want(0, false)
	c.Stored(12, 1, nil)
	want(20, true)
	c.Close(13, false)
	want(0, false)
}
