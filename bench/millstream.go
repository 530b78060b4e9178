package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// millstream runs queries by the built binary, one process each. All of the process counts, its start too; only with
// preloaded events the time before they are there does not.
type millstream struct {
	binary, shared, scratch string
	set                     []string // k=v of more settings
}

func (m *millstream) name() string { return "millstream" }

func (m *millstream) run(j job) (result, error) {
	dir, err := os.MkdirTemp(m.scratch, "run")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	script, err := m.script(j, dir)
	if err != nil {
		return result{}, fmt.Errorf("%s: %w", j.query.file, err)
	}
	file := filepath.Join(dir, j.query.name+".sql")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		return result{}, err
	}
	c := exec.Command(m.binary, "run", file)
	c.Env = append(os.Environ(), "MILLSTREAM_DATA="+filepath.Join(dir, "data"))
	var out bytes.Buffer
	log := &preloadWatch{}
	c.Stdout, c.Stderr = &out, log
	start := time.Now()
	if err := c.Start(); err != nil {
		return result{}, err
	}
	log.pid = c.Process.Pid
	err = c.Wait()
	end := time.Now()
	if err != nil {
		return result{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(log.text.String()))
	}
	r := result{events: j.events(), rss: peakRSS(c.ProcessState)}
	if r.kinds, r.answer, err = parseChecksum(out.String()); err != nil {
		return result{}, err
	}
	r.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime() - log.cpu).Seconds()
	if j.preload && !log.at.IsZero() {
		start = log.at
	}
	r.wall = end.Sub(start).Seconds()
	return r, nil
}

// script is the job's file: settings, the workload's tables, the query.
func (m *millstream) script(j job, dir string) (string, error) {
	ddl, err := os.ReadFile(filepath.Join(m.shared, "queries", "ddl.sql"))
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(j.query.file)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	settings := append([]string{"table.local-time-zone=UTC", "parallelism.default=" + strconv.Itoa(j.parallelism)}, m.set...)
	for _, kv := range settings {
		k, v, _ := strings.Cut(kv, "=")
		fmt.Fprintf(&b, "SET '%s' = '%s';\n", k, v)
	}
	body, err := fill(string(ddl)+"\n"+string(text), j.words(dir))
	b.WriteString(body)
	return b.String(), err
}

// words are what stands in ${ } of the scripts.
func (j job) words(dir string) map[string]string {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	p := j.params
	return map[string]string{
		"events": n(p.Events), "rate": n(p.Rate), "seed": n(p.Seed), "disorder": n(p.Disorder), "late": n(p.Late), "late-ms": n(p.LateMs),
		"preload": strconv.FormatBool(j.preload), "pace": "0", "batch": "1", "sink": j.sink,
		"input": j.input, "out": filepath.Join(dir, "out"),
	}
}

var checksumLine = regexp.MustCompile(`(?m)^checksum \S+ \+I=(\d+) -U=(\d+) \+U=(\d+) -D=(\d+) net=(-?\d+) sum=(\S+)$`)

// parseChecksum finds the line that the checksum sink prints.
func parseChecksum(out string) (kinds [4]int64, a answer, err error) {
	lines := checksumLine.FindAllStringSubmatch(out, -1)
	if len(lines) != 1 {
		return kinds, a, fmt.Errorf("found %d lines of a checksum sink in the output, not one:\n%s", len(lines), out)
	}
	for i := range kinds {
		if kinds[i], err = strconv.ParseInt(lines[0][i+1], 10, 64); err != nil {
			return kinds, a, err
		}
	}
	a.sum = lines[0][6]
	a.net, err = strconv.ParseInt(lines[0][5], 10, 64)
	return kinds, a, err
}

// preloadWatch keeps what a process says, and notes the CPU time that it had used when it said that its events were there.
type preloadWatch struct {
	pid  int
	text bytes.Buffer
	seen int // bytes of text that were looked at
	cpu  time.Duration
	at   time.Time
}

var preloaded = regexp.MustCompile(`^nexmark \S+ \d+-of-\d+: preloaded \d+ rows\n$`)

// Write implements io.Writer.
func (w *preloadWatch) Write(p []byte) (int, error) {
	now := time.Now()
	w.text.Write(p)
	for {
		line, _, whole := bytes.Cut(w.text.Bytes()[w.seen:], []byte("\n"))
		if !whole {
			return len(p), nil
		}
		line = w.text.Bytes()[w.seen : w.seen+len(line)+1]
		w.seen += len(line)
		if preloaded.Match(line) {
			cpu, err := cpuTime(w.pid)
			if err != nil {
				return 0, err
			}
			w.at, w.cpu = now, cpu
		}
	}
}

// cpuTime is the user and system time of a running process so far.
func cpuTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseStat(string(stat))
}

// parseStat reads utime and stime, the fields 14 and 15 of /proc/PID/stat, in ticks of 10 ms. The second field, the
// command's name in brackets, may hold anything.
func parseStat(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat has no times: %q", stat)
	}
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/PID/stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
