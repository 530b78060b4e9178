package process

import (
	"slices"
	"strings"
	"testing"
)

// TestStateTables reads the state of a job by SQL: while it runs, from its
// checkpoints when it does not, and from a savepoint elsewhere.
func TestStateTables(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", sums)
	p.write("in/0.csv", events(0, 7)+events(1, 5)+"a key that is longer than the others,1,2024-01-01 10:01:59\n")
	pr := p.startSums("-D", "parallelism.default=2")
	p.passed(pr, 0)
	ask := func(from string) []string {
		p.write("ask.sql", "SELECT k, `EXPR$2`, `EXPR$3` FROM STATE("+from+");\n")
		lines := strings.Split(strings.TrimSpace(p.good("run", "ask.sql").stdout), "\n")
		if len(lines) != 11 || lines[0] != "+I | a key that is longer than the others | 1 | 1" {
			t.Errorf("STATE(%s): %q", from, lines)
		}
		slices.Sort(lines)
		return lines
	}
	want := ask("'job', 'sums/window-aggregate'")
	if want[1] != "+I | k0 | 5 | 100" {
		t.Errorf("%q", want)
	}
	p.good("savepoint", "job", "--to", "sp")
	p.good("stop", "job")
	pr.wait()
	for _, from := range []string{"'job', 'sums/window-aggregate'", "'job', 'WindowAggregate'", "'job', 'sums/window-aggregate/windows'", "'job', 'sums/window-aggregate', 'sp'"} {
		if got := ask(from); !slices.Equal(got, want) {
			t.Errorf("STATE(%s): %q, want %q", from, got, want)
		}
	}
	for from, words := range map[string][]string{
		"'jop', 'sums/window-aggregate'":          {"ask.sql:1:21: STATE: there is no job jop", `did you mean "job"?`},
		"'job', 'sums/window-agregate'":           {"ask.sql:1:28: STATE: job job has no operator sums/window-agregate with state; it has sums/window-aggregate", `did you mean "sums/window-aggregate"?`},
		"'job', 'sums/window-aggregate/w'":        {"has no table w; it has sums/window-aggregate/windows"},
		"'job', 'sums/window-aggregate', '99999'": {"ask.sql:1:53: STATE: ", "holds no checkpoint 99999"},
		"'job'": {"ask.sql:1:15: STATE takes a job, an operator, and perhaps a checkpoint, as text"},
	} {
		p.write("ask.sql", "SELECT * FROM STATE("+from+");\n")
		p.refused(2, words, "run", "ask.sql")
	}
}
