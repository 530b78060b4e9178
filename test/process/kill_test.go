package process

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killScript counts taxi rides by window, zone and payment into three sinks.
// ${parallelism} and ${out} are filled in.
const killScript = `
SET 'parallelism.default' = '${parallelism}';
SET 'execution.checkpointing.interval' = '20 ms';
SET 'pipeline.name' = 'rides';

CREATE TABLE rides (
  id BIGINT, zone INT, payment STRING, fare INT, started TIMESTAMP(3),
  WATERMARK FOR started AS started - INTERVAL '20' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'rides.csv', 'format' = 'csv');

CREATE TABLE by_zone (w TIMESTAMP(3), zone INT, n BIGINT, fares BIGINT, first_id BIGINT, last_id BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${out}/by_zone', 'format' = 'csv');

CREATE TABLE by_payment (w TIMESTAMP(3), payment STRING, n BIGINT, fares BIGINT, zones BIGINT)
WITH ('connector' = 'filesystem', 'path' = '${out}/by_payment', 'format' = 'json');

CREATE TABLE dear (id BIGINT, fare INT, ` + "`hour`" + ` STRING, zone INT) PARTITIONED BY (` + "`hour`" + `, zone)
WITH ('connector' = 'filesystem', 'path' = '${out}/dear', 'format' = 'json');

EXECUTE STATEMENT SET BEGIN
  INSERT INTO by_zone
  SELECT window_start, zone, COUNT(*), SUM(CAST(fare AS BIGINT)), MIN(id), MAX(id)
  FROM TUMBLE(TABLE rides, DESCRIPTOR(started), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, zone;

  INSERT INTO by_payment
  SELECT window_start, payment, COUNT(*), SUM(CAST(fare AS BIGINT)), COUNT(DISTINCT zone)
  FROM TUMBLE(TABLE rides, DESCRIPTOR(started), INTERVAL '5' MINUTE) GROUP BY window_start, window_end, payment;

  INSERT INTO dear
  SELECT id, fare, SUBSTRING(CAST(started AS STRING) FROM 12 FOR 2), zone FROM rides WHERE fare > 970 AND zone < 5;
END;
`

// rideCount is long enough for some checkpoints in one run.
const rideCount = 300_000

// rides makes the input: a ride every 30 ms or so, out of order by up to 30 s,
// so that a few are late.
func rides() string {
	rnd := rand.New(rand.NewPCG(7, 7))
	base := time.Date(2024, 3, 1, 5, 0, 0, 0, time.UTC)
	payments := []string{"card", "cash", "voucher"}
	var b strings.Builder
	for i := range rideCount {
		at := base.Add(time.Duration(i)*30*time.Millisecond - time.Duration(rnd.IntN(15_000))*time.Millisecond)
		if rnd.IntN(1000) == 0 {
			at = at.Add(-15 * time.Second)
		}
		fmt.Fprintf(&b, "%d,%d,%s,%d,%s\n", i, rnd.IntN(50), payments[rnd.IntN(3)], rnd.IntN(1000), at.Format("2006-01-02 15:04:05.000"))
	}
	return b.String()
}

func scriptFor(parallelism int, out string) string {
	return strings.NewReplacer("${parallelism}", strconv.Itoa(parallelism), "${out}", out).Replace(killScript)
}

// TestKill kills a job at random instants, again and again, until it gets to
// its end; then its results have to be those of an undisturbed run. It goes on
// until there were MILLSTREAM_KILLS kills in all (15 by default).
func TestKill(t *testing.T) {
	kills := numberFromEnv(t, "MILLSTREAM_KILLS", 15)
	seed := numberFromEnv(t, "MILLSTREAM_SEED", int(time.Now().UnixNano()%1_000_000))
	t.Logf("MILLSTREAM_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(uint64(seed), 1))
	p := newPlace(t)
	p.write("rides.csv", rides())

	want := map[int][]string{}
	var whole time.Duration
	for _, parallelism := range []int{1, 2} {
		p.write("job.sql", scriptFor(parallelism, "undisturbed"))
		start := time.Now()
		p.good("run", "--fresh", "--data", "data", "job.sql")
		whole = time.Since(start)
		want[parallelism] = p.lines("undisturbed")
		if len(want[parallelism]) < 8_000 {
			t.Fatalf("only %d lines", len(want[parallelism]))
		}
		p.remove("undisturbed", "data")
	}
	if !slices.Equal(want[1], want[2]) {
		same(t, "parallelism 2 against 1", want[2], want[1])
	}
	for round := 0; kills > 0; round++ {
		parallelism := 1 + round%2
		p.write("job.sql", scriptFor(parallelism, "out"))
		n := p.killUntilDone(rnd, whole, min(kills, 25))
		kills -= n
		same(t, fmt.Sprintf("round %d, parallelism %d, %d kills", round, parallelism, n), p.lines("out"), want[parallelism])
		p.remove("out", "data")
		if t.Failed() {
			return
		}
	}
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
// in peace. It returns the number of kills.
func (p *place) killUntilDone(rnd *rand.Rand, whole time.Duration, allowed int) int {
	p.t.Helper()
	for kills := 0; ; {
		pr := p.start("", "run", "--data", "data", "job.sql")
		var bang <-chan time.Time
		if kills < allowed {
			bang = time.After(time.Duration(rnd.Int64N(int64(whole))))
		}
		select {
		case <-bang:
			pr.signal(syscall.SIGKILL)
		case err := <-pr.done:
			pr.done <- err
		}
		switch o := pr.wait(); o.code {
		case 0: // it may have been faster than the signal
			return kills
		case killed:
			kills++
			if p.complete() {
				return kills
			}
		default:
			p.t.Fatalf("after %d kills: %s", kills, o)
		}
	}
}

// complete reports whether a script that was killed had come to its end: then
// it was on its way out, and the next run would be another one, which writes
// its rows beside those of this run.
func (p *place) complete() bool {
	_, err := os.Stat(p.path("data/rides/script"))
	_, finished := os.Stat(p.path("data/rides/finished"))
	return errors.Is(err, fs.ErrNotExist) && finished == nil
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
