package process

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/sim"
)

// killOptions make checkpoints follow each other closely, and many of them too
// slow: those are given up.
const killOptions = `
SET 'parallelism.default' = '${parallelism}';
SET 'pipeline.name' = 'rides';
SET 'execution.checkpointing.interval' = '10 ms';
SET 'execution.checkpointing.timeout' = '${timeout} ms';
SET 'execution.checkpointing.tolerable-failed-checkpoints' = '1000000';
SET 'state.backend.type' = '${backend}';
`

// killRows is long enough for some checkpoints in one run.
const killRows = 20_000

// TestKill kills jobs of all kinds at random instants, again and again, with
// another parallelism at each start, until they get to their end; then the
// results have to be those of undisturbed runs. Every fourth kill comes so early
// that the job is still on its way back from the one before. There are
// MILLSTREAM_KILLS kills in all.
func TestKill(t *testing.T) {
	kills := numberFromEnv(t, "MILLSTREAM_KILLS", 15)
	seed := numberFromEnv(t, "MILLSTREAM_SEED", int(time.Now().UnixNano()%1_000_000))
	t.Logf("MILLSTREAM_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(uint64(seed), 1))
	p := newPlace(t)
	p.write("rides.csv", sim.Input(killRows, uint64(seed)))
	shapes := sim.Shapes()
	each := max(5, 1+kills/len(shapes))
	for round, done := 0, 0; done < kills && !t.Failed(); round++ {
		shape := shapes[(seed+round*11)%len(shapes)]
		began := time.Now()
		p.killScript(rnd, shape, "undisturbed", 1)
		p.good("run", "--fresh", "--data", "data", "job.sql")
		whole := time.Since(began)
		if !p.complete() {
			t.Fatalf("%s: a script that has come to its end is not taken as complete", shape.Name)
		}
		want := p.lines("undisturbed")
		p.remove("undisturbed", "data")

		n, early, parallelisms := p.killUntilDone(rnd, shape, whole, min(kills-done, each))
		done += n
		what := fmt.Sprintf("%s: %d kills, %d of them on the way back, parallelism %v", shape.Name, n, early, parallelisms)
		t.Logf("%s, %d lines", what, len(want))
		same(t, what, p.lines("out"), want)
		p.remove("out", "data")
	}
}

// killScript writes the script of a shape.
func (p *place) killScript(rnd *rand.Rand, shape sim.Shape, out string, parallelism int) {
	p.t.Helper()
	options := strings.NewReplacer("${parallelism}", strconv.Itoa(parallelism), "${timeout}", strconv.Itoa(10+rnd.IntN(40)),
		"${backend}", []string{"auto", "disk", "memory"}[rnd.IntN(3)]).Replace(killOptions)
	p.write("job.sql", options+shape.Script("rides.csv", out))
}

// remove removes directories.
func (p *place) remove(names ...string) {
	p.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(p.path(name)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// killUntilDone starts the job and kills it at a random instant, until it has
// come to its end or there were as many kills as allowed, whereafter it is left
// in peace. It returns the number of kills, and of those that came early.
func (p *place) killUntilDone(rnd *rand.Rand, shape sim.Shape, whole time.Duration, allowed int) (kills, early int, parallelisms []int) {
	p.t.Helper()
	for {
		parallelism := 1 + rnd.IntN(3)
		parallelisms = append(parallelisms, parallelism)
		p.killScript(rnd, shape, "out", parallelism)
		pr := p.start("", "run", "--data", "data", "job.sql")
		var bang <-chan time.Time
		soon := rnd.IntN(4) == 0
		if kills < allowed {
			within := max(whole*3/4, time.Millisecond)
			if soon {
				within = 50 * time.Millisecond
			}
			bang = time.After(time.Duration(rnd.Int64N(int64(within))))
		}
		select {
		case <-bang:
			pr.signal(syscall.SIGKILL)
		case err := <-pr.done:
			pr.done <- err
		}
		switch o := pr.wait(); o.code {
		case 0: // it may have been faster than the signal
			return kills, early, parallelisms
		case killed:
			if kills++; soon {
				early++
			}
			if p.complete() {
				return kills, early, parallelisms
			}
		default:
			p.t.Fatalf("%s: after %d kills: %s", shape.Name, kills, o)
		}
	}
}

// complete reports whether a script that was killed had come to its end: then
// it was on its way out, and the next run would be another one, which writes
// its rows beside those of this run.
func (p *place) complete() bool {
	if _, err := os.Stat(p.path("data/rides/script")); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	list, err := p.command([]string{"checkpoints", "rides", "--data", "data"}).Output()
	return err == nil && strings.HasSuffix(strings.TrimSpace(string(list)), " end")
}

// killed is the exit code of a process that a signal has ended.
const killed = -1

func numberFromEnv(t *testing.T, name string, otherwise int) int {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s=%s is no number", name, v)
	}
	return n
}
