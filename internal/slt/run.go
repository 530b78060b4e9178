// Package slt runs test scripts: tables, a query, its input step by step, and
// the answer after each step, in several configurations that have one answer.
package slt

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/millstream-io/millstream/internal/sltfile"
)

// Restore says when a script's query is killed and goes on from a checkpoint.
type Restore uint8

const (
	// Never: the query runs undisturbed and keeps nothing.
	Never Restore = iota
	// Each: after every step there is a checkpoint, then a crash.
	Each
	// Random: checkpoints and crashes come at random, so that steps are done
	// again.
	Random
	// Faulty: after every step the machine crashes while a checkpoint is on its
	// way, and loses some or all that was not synced; the query goes on with
	// another parallelism.
	Faulty
	// Damaged: after every step the query is killed, a file of its checkpoint is
	// damaged, and it goes on from that until the damage is found; then from the
	// whole files.
	Damaged
)

// Config is one way to run a script.
type Config struct {
	// Batch is the most rows of a batch.
	Batch       int
	Parallelism int
	Restore     Restore
	// Tiny leaves at most one row of each table's instance in memory between
	// two events, and all others on disk.
	Tiny bool
	// Seed decides what is random.
	Seed uint64
}

// String names the configuration.
func (c Config) String() string {
	restore := [...]string{"never", "each step", "random", "faulty", "damaged"}[c.Restore]
	if c.Restore >= Random {
		restore += fmt.Sprintf(" (seed %d)", c.Seed)
	}
	memory := "ample"
	if c.Tiny {
		memory = "tiny"
	}
	return fmt.Sprintf("batch %d, parallelism %d, restore %s, memory %s", c.Batch, c.Parallelism, restore, memory)
}

// Quick is the plain way to run a script.
var Quick = []Config{{Batch: 1024, Parallelism: 1}}

// Matrix returns all the ways to run a script; they have one answer.
func Matrix(seed uint64) []Config {
	var out []Config
	for _, p := range []int{1, 4} {
		for _, b := range []int{1024, 1, 3} {
			for _, r := range []Restore{Never, Each, Random} {
				for _, tiny := range []bool{false, true} {
					out = append(out, Config{Batch: b, Parallelism: p, Restore: r, Tiny: tiny, Seed: seed})
				}
			}
		}
	}
	return out
}

// Result is what became of a script.
type Result struct {
	Path string
	// Skipped is the reason why it was not run.
	Skipped string
	// Failures are differences: file:line, what was expected and what came.
	Failures []string
	// Unsupported is the first thing that the script needs and that is not
	// there yet; such a failure is no wrong answer.
	Unsupported string
	// Stateful are the packages of those operators of the queries that have tables.
	Stateful []string
	// Crashes, Found and Harmless count the crashes, and the damaged files that
	// were found or have done no harm.
	Crashes, Found, Harmless int
}

// Passed reports whether the script gave its answers in all configurations.
func (r *Result) Passed() bool { return len(r.Failures) == 0 && r.Skipped == "" }

// Files returns the scripts that paths name: files, or folders with .slt files
// at any depth, sorted.
func Files(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			out = append(out, p)
			continue
		}
		err = filepath.WalkDir(p, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".slt") {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	sort.Strings(out)
	return slices.Compact(out), nil
}

// Run runs a script in each configuration, and stops after the first one that
// gives another answer.
func Run(path string, configs []Config) *Result {
	res := &Result{Path: path}
	f, err := sltfile.Read(path)
	if err != nil {
		res.Failures = append(res.Failures, err.Error())
		return res
	}
	if f.Skip != "" {
		res.Skipped = f.Skip
		return res
	}
	if !slices.ContainsFunc(f.Blocks, func(b *sltfile.Block) bool { return b.Cmd == "query" }) {
		configs = configs[:1] // expressions have nothing to do with how queries run
	}
	for _, c := range configs {
		r := newRunner(f, c)
		r.result = res
		r.compare(res)
		r.close()
		res.Stateful = append(res.Stateful, r.stateful...)
		slices.Sort(res.Stateful)
		res.Stateful = slices.Compact(res.Stateful)
		if len(res.Failures) > 0 {
			break
		}
	}
	return res
}

// Rewrite fills in the answers that the plain configuration gives.
func Rewrite(path string) error {
	f, err := sltfile.Read(path)
	if err != nil {
		return err
	}
	r := newRunner(f, Quick[0])
	defer r.close()
	var got [][]string
	for _, b := range f.Blocks {
		out, err := r.block(b)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, b.Line, err)
		}
		got = append(got, plain(out))
	}
	return os.WriteFile(path, []byte(f.Rewrite(got)), 0o644)
}

// plain leaves out the reasons behind errors.
func plain(lines []string) []string {
	out := slices.Clone(lines)
	for i, l := range out {
		if strings.HasPrefix(l, "error ") {
			out[i] = "error"
		}
	}
	return out
}

// maxFailures is how many differences of one script are reported.
const maxFailures = 5

// compare runs all blocks and notes the differences.
func (r *runner) compare(res *Result) {
	for _, b := range r.file.Blocks {
		got, err := r.block(b)
		at := fmt.Sprintf("%s:%d: %s", r.file.Path, b.Line, b.Cmd)
		if err != nil {
			res.Failures = append(res.Failures, fmt.Sprintf("%s: %v (%s)", at, err, r.cfg))
		} else if !r.matches(b, got) {
			res.Failures = append(res.Failures, fmt.Sprintf("%s: the answer differs (%s)\n%s", at, r.cfg, diff(b.Want, got)))
			if res.Unsupported == "" {
				res.Unsupported = r.unsupported
			}
		}
		if len(res.Failures) >= maxFailures {
			return
		}
	}
}

// matches compares an answer with what is expected. A raw changelog has one
// order only where one task does the work.
func (r *runner) matches(b *sltfile.Block, got []string) bool {
	want := b.Want
	if len(want) != len(got) {
		return false
	}
	if r.raw && b.Cmd == "feed" && r.cfg.Parallelism > 1 {
		want, got = slices.Clone(want), slices.Clone(got)
		sort.Strings(want)
		sort.Strings(got)
	}
	for i := range want {
		if !lineMatches(want[i], got[i]) {
			return false
		}
	}
	return true
}

// lineMatches compares a line; an expected "error" stands for any error, and
// text behind it must be a part of the message.
func lineMatches(want, got string) bool {
	if text, ok := strings.CutPrefix(want, "error"); ok && strings.HasPrefix(got, "error") {
		return strings.Contains(got, strings.TrimSpace(text))
	}
	return want == got
}

// diff shows lines that are only expected with -, and lines that only came
// with +.
func diff(want, got []string) string {
	common := lcs(want, got)
	var b strings.Builder
	i, j := 0, 0
	for _, c := range append(common, [2]int{len(want), len(got)}) {
		for ; i < c[0]; i++ {
			b.WriteString("    expected  " + want[i] + "\n")
		}
		for ; j < c[1]; j++ {
			b.WriteString("    got       " + got[j] + "\n")
		}
		i, j = c[0]+1, c[1]+1
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// lcs returns the index pairs of a longest common subsequence.
func lcs(a, b []string) [][2]int {
	n := make([][]int, len(a)+1)
	for i := range n {
		n[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if lineMatches(a[i], b[j]) {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case lineMatches(a[i], b[j]):
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case n[i+1][j] >= n[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// newRand returns the source of what is random in a configuration.
func newRand(c Config) *rand.Rand {
	return rand.New(rand.NewPCG(c.Seed, uint64(c.Batch)<<8|uint64(c.Parallelism)))
}
