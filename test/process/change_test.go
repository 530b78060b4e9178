package process

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestChangedQuery changes a job that has state. What means the same goes on,
// what does not is refused, and named, before anything is touched.
func TestChangedQuery(t *testing.T) {
	p := newPlace(t)
	pr := p.firstSums(sums)
	p.good("stop", "job")
	pr.wait()

	for _, c := range []struct {
		name, from, to string
		lost           []string
	}{
		{"another filter", "GROUP BY", "WHERE v > 1000000 GROUP BY", nil},
		{"another way to write it", "FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
			"FROM TABLE(TUMBLE(TABLE kept, DESCRIPTOR(ts), INTERVAL '60' SECOND))", nil},
		{"another aggregate", "SUM(v)", "MAX(v)", []string{"sums/window-aggregate", "table windows", "aggregate=SUM(v of events", "aggregate=MAX(v of events"}},
		{"another argument", "SUM(v)", "SUM(v + 1)", []string{"sums/window-aggregate", "table windows", "aggregate=SUM(v of events"}},
		{"another key", "SELECT k, window_start, COUNT(*), SUM(v)\nFROM", "SELECT UPPER(k), window_start, COUNT(*), SUM(v)\nFROM", []string{"sums/window-aggregate", "keys=k of events"}},
		{"another window", "'1' MINUTE", "'2' MINUTE", []string{"sums/window-aggregate", "window=TUMBLE of 60000 ms"}},
		{"no window", "SELECT k, window_start, COUNT(*), SUM(v)\n", "SELECT k, ts, CAST(1 AS BIGINT), CAST(v AS BIGINT) FROM events; --", []string{"sums/window-aggregate", "does not have it any more"}},
		{"another input", "'path' = 'in'", "'path' = 'more'", []string{"source:events", "positions in 1 splits", "the option path has another value"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(sums, c.from, c.to, 1)
			if c.name == "another key" {
				changed = strings.Replace(changed, "GROUP BY k", "GROUP BY UPPER(k)", 1)
			}
			if c.name == "no window" {
				changed = strings.SplitAfter(changed, "; --")[0]
			}
			changed = strings.Replace(changed, "INSERT INTO", "CREATE VIEW kept AS SELECT ts, v, k FROM events;\nINSERT INTO", 1)
			q := &place{t: t, dir: p.dir}
			q.write("new/job.sql", changed)
			if c.lost == nil {
				if o := q.good("diff", "job.sql", "new/job.sql"); strings.Contains(o.stdout, "lost") || !strings.Contains(o.stdout, "kept  sums/window-aggregate") {
					t.Errorf("%s", o)
				}
				return
			}
			o := q.refused(3, []string{"--allow-loss"}, "diff", "job.sql", "new/job.sql")
			for _, w := range append(c.lost, "lost  ") {
				if !strings.Contains(o.stdout, w) {
					t.Errorf("diff does not say %q: %s", w, o)
				}
			}
			q.refused(3, append(c.lost, "--allow-loss", "--fresh"), "run", "new/job.sql")
		})
	}

	// Wider columns take what is there. What was refused has changed nothing: the
	// job goes on.
	wide := strings.Replace(sums, "v INT", "v BIGINT", 1)
	q := &place{t: t, dir: p.dir}
	q.write("new/job.sql", wide)
	if o := q.good("diff", "job.sql", "new/job.sql"); !strings.Contains(o.stdout, "sums/window-aggregate") || strings.Contains(o.stdout, "lost") {
		t.Errorf("%s", o)
	}
	p.write("job.sql", wide)
	pr = p.startSums()
	p.good("stop", "job", "--savepoint")
	pr.wait()
	// Given up is only what does not fit: the source goes on where it was.
	p.write("job.sql", strings.Replace(wide, "SUM(v)", "MAX(v)", 1))
	p.write("in/1.csv", events(2, 3))
	pr = p.startSums("--allow-loss")
	p.good("stop", "job", "--drain")
	if o := pr.wait(); o.code != 0 || !strings.Contains(o.stderr, "given up: sums/window-aggregate") {
		t.Errorf("%s", o)
	}
	for _, line := range p.lines("out") {
		if strings.Contains(line, "10:01:00") {
			t.Errorf("a row of the window that was given up: %s", line)
		}
	}
}

var writeGolden = flag.Bool("golden", false, "write the savepoint of this version into testdata")

// TestOldSavepoint begins from savepoints that earlier versions have made.
func TestOldSavepoint(t *testing.T) {
	const newest = "savepoint-2"
	input := events(0, 7) + events(1, 5)
	if *writeGolden {
		p := newPlace(t)
		p.write("job.sql", sums)
		p.write("in/0.csv", input)
		pr := p.startSums("-D", "parallelism.default=2")
		p.passed(pr, 0)
		to, err := filepath.Abs(filepath.Join("testdata", newest))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		p.good("savepoint", "job", "--to", to)
		p.good("stop", "job")
		pr.wait()
	}
	dirs, err := filepath.Glob("testdata/savepoint-*")
	if err != nil || len(dirs) == 0 {
		t.Fatal(dirs, err)
	}
	for _, dir := range dirs {
		for _, parallelism := range []string{"1", "2", "3"} {
			t.Run(filepath.Base(dir)+" at "+parallelism, func(t *testing.T) {
				p := newPlace(t)
				p.write("job.sql", sums)
				p.write("in/0.csv", input)
				p.write("in/1.csv", events(2, 3))
				from, err := filepath.Abs(dir)
				if err != nil {
					t.Fatal(err)
				}
				pr := p.startSums("--from", from, "-D", "parallelism.default="+parallelism)
				p.passed(pr, 1)
				p.good("stop", "job", "--drain")
				if o := pr.wait(); o.code != 0 {
					t.Fatalf("%s", o)
				}
				same(t, "behind the savepoint", p.lines("out"), slices.Sorted(slices.Values(append(minutes(5, 1), minutes(3, 2)...))))
			})
		}
	}
}
