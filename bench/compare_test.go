package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/connector/nexmark/gen"
)

// workload makes a folder as the shared one, with a query q0 and expected answers of 1000 events.
func workload(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"queries/ddl.sql":   "-- The tables.\nCREATE TABLE events (a INT) WITH ('events' = '${events}', 'late-ms' = '${late-ms}');",
		"queries/q0.sql":    "INSERT INTO q0 SELECT '${sink}' FROM events;",
		"queries/json0.sql": "INSERT INTO q0 SELECT * FROM '${input}';",
		"expected/events-1000_rate-100000_disorder-1_late-0.tsv":       "# Seed 1.\nq0\t920\t00000000000000aa\tbatch\n",
		"expected/events-1000_rate-100000_disorder-2_late-50x3000.tsv": "q0\t920\t00000000000000bb\tbatch\n",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fake is an engine that only keeps account.
type fake struct {
	id   string
	log  *[]string
	sum  string
	fail error
}

func (f *fake) name() string { return f.id }

func (f *fake) run(j job) (result, error) {
	*f.log = append(*f.log, fmt.Sprintf("%s %s %s %d", f.id, j.query.name, j.sink, j.events()))
	if f.fail != nil {
		return result{}, f.fail
	}
	return result{events: j.events(), cpu: 0.5, wall: 1, rss: 20, kinds: [4]int64{920}, answer: answer{920, f.sum}}, nil
}

func comparisonOf(t *testing.T, engines ...engine) *comparison {
	p := gen.Defaults(2000)
	return &comparison{
		options: &options{params: &p, flinkEvents: 500, checkEvents: 1000, parallelism: 1, repeat: 2, shared: workload(t), queries: []string{"q0", "json0"}},
		scratch: t.TempDir(), engines: engines, inputs: map[inputKey]input{}, log: io.Discard,
	}
}

func TestEnginesTakeTurns(t *testing.T) {
	var log []string
	c := comparisonOf(t, &fake{id: "millstream", log: &log, sum: "00000000000000aa"}, &fake{id: "flink", log: &log, sum: "00000000000000aa"})
	rows, err := c.run()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"millstream q0 hash 1000", "flink q0 hash 1000",
		"millstream q0 count 2000", "flink q0 count 500", "millstream q0 count 2000", "flink q0 count 500",
		"millstream json0 hash 920", "flink json0 hash 920", // of 1000 events, as many are bids
		"millstream json0 count 1840", "flink json0 count 460", "millstream json0 count 1840", "flink json0 count 460",
	}
	if !reflect.DeepEqual(log, want) {
		t.Errorf("ran\n%s\nwant\n%s", strings.Join(log, "\n"), strings.Join(want, "\n"))
	}
	var out bytes.Buffer
	if err := printTable(&out, c.engines, rows); err != nil {
		t.Fatal(err)
	}
	table := strings.Join([]string{
		"query  events       millstream events/CPU-s  MiB  flink events/CPU-s  MiB  ratio  answers",
		"q0     2,000 / 500  4,000                    20   1,000               20   4.0    agree, as expected",
		"json0  1,840 / 460  3,680                    20   920                 20   4.0    agree, as expected", ""}, "\n")
	if out.String() != table {
		t.Errorf("printed\n%swant\n%s", out.String(), table)
	}
	if n := failures(rows); n != 0 {
		t.Errorf("%d failures", n)
	}
	file := filepath.Join(t.TempDir(), "runs.tsv")
	if err := errors.Join(appendTSV(file, rows[:1]), appendTSV(file, rows[1:])); err != nil {
		t.Fatal(err)
	}
	tsv, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(string(tsv), "\n"); len(lines) != 1+8+1 || lines[3] != "q0\tflink\t1\t500\t1.000\t0.500\t1000\t920\t0\t0\t0\t920\t20" {
		t.Errorf("the file holds\n%s", tsv)
	}
}

func TestAFailedEngineIsLeftOut(t *testing.T) {
	var log []string
	c := comparisonOf(t, &fake{id: "millstream", log: &log, fail: errors.New("no such function\nsecond line")}, &fake{id: "flink", log: &log, sum: "00000000000000ab"})
	c.queries, c.repeat = []string{"q0"}, 1
	rows, err := c.run()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"millstream q0 hash 1000", "flink q0 hash 1000", "flink q0 count 500"}; !reflect.DeepEqual(log, want) {
		t.Errorf("ran %q, want %q", log, want)
	}
	want := "DIFFER: none of millstream, net=920 sum=00000000000000ab of flink, want net=920 sum=00000000000000aa; millstream failed: no such function"
	if got := rows[0].outcome(c.engines); got != want || failures(rows) != 1 {
		t.Errorf("%q, want %q; %d failures", got, want, failures(rows))
	}
}

func TestJudge(t *testing.T) {
	a, b := answer{1, "aa"}, answer{1, "bb"}
	m, f := &fake{id: "millstream"}, &fake{id: "flink"}
	both := []engine{m, f}
	for _, c := range []struct {
		engines []engine
		want    *answer
		got     map[string]answer
		text    string
		bad     bool
	}{
		{both, &a, map[string]answer{"millstream": a, "flink": a}, "agree, as expected", false},
		{both, nil, map[string]answer{"millstream": a, "flink": a}, "agree", false},
		{both, nil, map[string]answer{"millstream": a, "flink": b}, "DIFFER: net=1 sum=bb of flink, want net=1 sum=aa", true},
		{both, &a, map[string]answer{"millstream": b, "flink": a}, "DIFFER: net=1 sum=bb of millstream, want net=1 sum=aa", true},
		{both, nil, map[string]answer{"flink": a}, "DIFFER: none of millstream, want net=1 sum=aa", true},
		{both, nil, nil, "no answer", true},
		{both[:1], &a, map[string]answer{"millstream": a}, "as expected", false},
		{both[:1], nil, map[string]answer{"millstream": a}, "unknown", false},
	} {
		if v := judge(c.engines, c.want, c.got); v.text != c.text || v.bad != c.bad {
			t.Errorf("%v: %q %v, want %q %v", c.got, v.text, v.bad, c.text, c.bad)
		}
	}
}

func TestExpectedAnswer(t *testing.T) {
	shared, p := workload(t), gen.Defaults(1000)
	disordered, other := p, p
	disordered.Disorder, disordered.Late = 2, 50
	other.Seed = 2
	for _, c := range []struct {
		p     gen.Params
		query string
		want  string
	}{
		{p, "q0", "net=920 sum=00000000000000aa"}, {p, "json0", "net=920 sum=00000000000000aa"}, {p, "q9", "none"},
		{disordered, "q0", "net=920 sum=00000000000000bb"}, {other, "q0", "none"}, {gen.Defaults(7), "q0", "none"},
	} {
		a, err := expectedAnswer(shared, c.p, c.query)
		got := "none"
		if a != nil {
			got = a.String()
		}
		if err != nil || got != c.want {
			t.Errorf("%s of %+v: %s, %v, want %s", c.query, c.p, got, err, c.want)
		}
	}
}

func TestScript(t *testing.T) {
	m := &millstream{shared: workload(t), set: []string{"a.b=c=d"}}
	q, err := findQuery(m.shared, t.TempDir(), "q0", 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.script(job{query: q, params: gen.Defaults(12), parallelism: 2, sink: "count"}, "dir")
	want := `SET 'table.local-time-zone' = 'UTC';
SET 'parallelism.default' = '2';
SET 'a.b' = 'c=d';
-- The tables.
CREATE TABLE events (a INT) WITH ('events' = '12', 'late-ms' = '3000');
INSERT INTO q0 SELECT 'count' FROM events;`
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if _, err := fill("${a} ${sink} ${b} ${a}", map[string]string{"sink": "x"}); err == nil || err.Error() != "it has words that have no value: ${a}, ${b}" {
		t.Error(err)
	}
}

// Flink's runner finds our own queries by a path from its folder of queries.
func TestFlinkArguments(t *testing.T) {
	shared, scratch := workload(t), t.TempDir()
	q, err := findQuery(shared, scratch, "tumble", 0)
	if err != nil {
		t.Fatal(err)
	}
	f := &flink{shared: shared, scratch: scratch, reuse: "on", warmEvents: 10, extra: []string{"--state", "rocksdb"}}
	args, tsv, err := f.arguments(job{query: q, params: gen.Defaults(12), parallelism: 2, sink: "count", preload: true, warm: true, input: "in", inputRows: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(shared, "queries", args[1]+".sql")); err != nil || !strings.HasPrefix(args[1], "..") {
		t.Errorf("the query %s is not found: %v", args[1], err)
	}
	want := "--events 12 --rate 100000 --seed 1 --base-ms 1767254395000 --disorder 1 --late 0 --late-ms 3000 --parallelism 2 --sink count " +
		"--object-reuse on --tsv " + tsv + " --warmup-events 10 --input in --input-rows 3 --preload --state rocksdb"
	if got := strings.Join(args[2:], " "); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if _, err := findQuery(shared, scratch, "q99", 0); err == nil || !errors.As(err, new(usageError)) {
		t.Errorf("q99 gives %v", err)
	}
}

const flinkHead = "query\tsettings\trun\tevents\tstart_s\twall_s\tcpu_s\tevents_per_s\tevents_per_cpu_s\tins\tub\tua\tdel\tnet\tsum\trss_peak_mib\tcheck\n"

func TestParseFlink(t *testing.T) {
	r, err := parseFlink(flinkHead + "q0\tp=1 heap\t1\t100000\t1.254\t0.173\t0.350\t579033\t285714\t92000\t1\t2\t3\t91999\t04552ed2a87add85\t2508\tok\n")
	want := result{events: 100_000, wall: 0.173, cpu: 0.35, rss: 2508, kinds: [4]int64{92000, 1, 2, 3}, answer: answer{91999, "04552ed2a87add85"}}
	if err != nil || r != want {
		t.Errorf("%+v, %v, want %+v", r, err, want)
	}
	for table, want := range map[string]string{
		flinkHead + "q6\tp=1\t1\t100000" + strings.Repeat("\t-", 12) + "\tTableException: no\n": "flink: TableException: no",
		flinkHead: "flink: cannot read the runner's table: no column events",
		"":        "flink: cannot read the runner's table: no column events",
	} {
		if _, err := parseFlink(table); err == nil || strings.SplitN(err.Error(), "\n", 2)[0] != want {
			t.Errorf("%q gives %v, want %s", table, err, want)
		}
	}
}

func TestParseChecksum(t *testing.T) {
	kinds, a, err := parseChecksum("+I | 1\nchecksum q0 +I=5 -U=1 +U=2 -D=9 net=-3 sum=00ff\n")
	if err != nil || kinds != [4]int64{5, 1, 2, 9} || a != (answer{-3, "00ff"}) {
		t.Errorf("%v %v %v", kinds, a, err)
	}
	if _, _, err := parseChecksum("nothing"); err == nil || err.Error() != "found 0 lines of a checksum sink in the output, not one:\nnothing" {
		t.Error(err)
	}
}

func TestParseStat(t *testing.T) {
	d, err := parseStat("42 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 250 31 0 0 20 0 5 0")
	if err != nil || d != 2810*time.Millisecond {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := parseStat("42 (a) S 1"); err == nil {
		t.Error("a short line is no error")
	}
}

func TestCompareIsToldNonsense(t *testing.T) {
	shared := workload(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--shared", "/nowhere"}, `the workload's queries are not in "/nowhere": say where the folder nexmark is with --shared DIR`},
		{[]string{"--shared", shared, "--millstream", "/nowhere"}, "there is no binary \"/nowhere\": build it with `make build`, or name it with --millstream FILE"},
		{[]string{"--shared", shared, "--engines", "spark"}, `--engines takes millstream and flink, not "spark"`},
		{[]string{"--shared", shared, "--engines", "flink", "q99"}, `there is no query "q99"`},
		{[]string{"--rate", "0"}, "'rate' = '0': must be at least 1 event per second"},
	} {
		err := compare(c.args, tempFile(t), tempFile(t))
		if err == nil || !errors.As(err, new(usageError)) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.args, err, c.want)
		}
	}
}
