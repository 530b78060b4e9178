package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// flink runs queries by the shared workload's own runner, one JVM each. It measures from the first row that the
// source gives to the end of the job, so neither the JVM's start nor the planning counts.
type flink struct {
	shared, scratch string
	reuse           string   // --object-reuse
	warmEvents      int64    // of the unmeasured run before
	extra           []string // more arguments
	log             io.Writer
}

func (f *flink) name() string { return "flink" }

func (f *flink) run(j job) (result, error) {
	args, tsv, err := f.arguments(j)
	if err != nil {
		return result{}, err
	}
	os.Remove(tsv)
	c := exec.Command(filepath.Join(f.shared, "bench"), args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, f.log
	runErr := c.Run()
	table, err := os.ReadFile(tsv)
	if err != nil {
		return result{}, fmt.Errorf("%s failed: %w", c, errors.Join(runErr, errors.New(lastLine(out.String()))))
	}
	// The runner exits with 1 where the answer is not the expected one; that is for the caller to judge.
	return parseFlink(string(table))
}

// arguments are those of the runner; tsv is the file that it writes.
func (f *flink) arguments(j job) (args []string, tsv string, err error) {
	tsv = filepath.Join(f.scratch, "flink.tsv")
	name, err := f.queryName(j.query)
	if err != nil {
		return nil, "", err
	}
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	p := j.params
	args = []string{
		"flink", name, "--events", n(p.Events), "--rate", n(p.Rate), "--seed", n(p.Seed), "--base-ms", n(p.Base),
		"--disorder", n(p.Disorder), "--late", n(p.Late), "--late-ms", n(p.LateMs),
		"--parallelism", strconv.Itoa(j.parallelism), "--sink", j.sink, "--object-reuse", f.reuse, "--tsv", tsv,
	}
	if j.warm {
		args = append(args, "--warmup-events", n(min(f.warmEvents, p.Events)))
	} else {
		args = append(args, "--warmup", "0")
	}
	if j.input != "" {
		args = append(args, "--input", j.input, "--input-rows", n(j.inputRows))
	}
	if j.preload {
		args = append(args, "--preload")
	}
	return append(args, f.extra...), tsv, nil
}

// queryName is what the runner takes for the query: its path from the runner's folder of queries, so that it also
// finds ours.
func (f *flink) queryName(q query) (string, error) {
	folder, err := filepath.EvalSymlinks(filepath.Join(f.shared, "queries"))
	if err != nil {
		return "", err
	}
	file, err := filepath.EvalSymlinks(q.file)
	if err != nil {
		return "", err
	}
	path, err := filepath.Rel(folder, file)
	return strings.TrimSuffix(path, ".sql"), err
}

// parseFlink reads the runner's table of one run.
func parseFlink(table string) (result, error) {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	head, row := strings.Split(lines[0], "\t"), strings.Split(lines[len(lines)-1], "\t")
	if len(lines) > 1 && len(row) > 4 && row[4] == "-" {
		return result{}, fmt.Errorf("flink: %s", row[len(row)-1]) // the reason stands in the last cell
	}
	var errs []error
	cell := func(name string) string {
		i := slices.Index(head, name)
		if i < 0 || i >= len(row) || len(lines) < 2 {
			errs = append(errs, fmt.Errorf("no column %s", name))
			return "0"
		}
		return row[i]
	}
	number := func(name string) float64 {
		v, err := strconv.ParseFloat(cell(name), 64)
		if err != nil {
			errs = append(errs, fmt.Errorf("column %s: %w", name, err))
		}
		return v
	}
	r := result{events: int64(number("events")), wall: number("wall_s"), cpu: number("cpu_s"), rss: int64(number("rss_peak_mib"))}
	for i, name := range []string{"ins", "ub", "ua", "del"} {
		r.kinds[i] = int64(number(name))
	}
	r.answer = answer{int64(number("net")), cell("sum")}
	if errs != nil {
		return result{}, fmt.Errorf("flink: cannot read the runner's table: %w\n%s", errors.Join(errs...), table)
	}
	return r, nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
