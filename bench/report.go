package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/millstream-io/millstream/connector/nexmark/gen"
)

// expectedAnswer looks up what the shared workload has as the right answer; nil if it has none.
func expectedAnswer(shared string, p gen.Params, name string) (*answer, error) {
	if p.Seed != gen.DefaultSeed || p.Base != gen.DefaultBase {
		return nil, nil
	}
	if same, ok := sameAnswer[name]; ok {
		name = same
	}
	late := strconv.FormatInt(p.Late, 10)
	if p.Late > 0 {
		late += "x" + strconv.FormatInt(p.LateMs, 10)
	}
	file := filepath.Join(shared, "expected", fmt.Sprintf("events-%d_rate-%d_disorder-%d_late-%s.tsv", p.Events, p.Rate, p.Disorder, late))
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if cells[0] != name || len(cells) < 3 {
			continue
		}
		net, err := strconv.ParseInt(cells[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: query %s: %w", file, name, err)
		}
		return &answer{net, cells[2]}, nil
	}
	return nil, nil
}

// verdict tells whether answers agree.
type verdict struct {
	text string
	bad  bool
}

// judge compares the engines' answers with the expected one, or with each other if that is unknown.
func judge(engines []engine, want *answer, got map[string]answer) verdict {
	if len(got) == 0 {
		return verdict{"no answer", true}
	}
	known := want != nil
	var differ []string
	for _, e := range engines {
		a, ok := got[e.name()]
		switch {
		case !ok:
			differ = append(differ, "none of "+e.name())
		case want == nil:
			want = &a
		case a != *want:
			differ = append(differ, fmt.Sprintf("%s of %s", a, e.name()))
		}
	}
	switch {
	case differ != nil:
		return verdict{fmt.Sprintf("DIFFER: %s, want %s", strings.Join(differ, ", "), want), true}
	case known && len(got) > 1:
		return verdict{"agree, as expected", false}
	case known:
		return verdict{"as expected", false}
	case len(got) > 1:
		return verdict{"agree", false}
	default:
		return verdict{"unknown", false}
	}
}

// failures counts the rows that have something wrong.
func failures(rows []row) int {
	n := 0
	for _, r := range rows {
		if r.verdict.bad || len(r.failed) > 0 {
			n++
		}
	}
	return n
}

// printTable prints a line for each query: the engines' medians, the ratio of the first two, and the answers.
func printTable(out io.Writer, engines []engine, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "query\tevents")
	for _, e := range engines {
		fmt.Fprintf(w, "\t%s events/CPU-s\tMiB", e.name())
	}
	if len(engines) == 2 {
		fmt.Fprint(w, "\tratio")
	}
	fmt.Fprintln(w, "\tanswers")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s", r.query, eventsOf(engines, r))
		var rates []float64
		for _, e := range engines {
			runs := r.runs[e.name()]
			if len(runs) == 0 {
				fmt.Fprint(w, "\t-\t-")
				continue
			}
			rate := median(runs, result.perCPUSecond)
			rates = append(rates, rate)
			fmt.Fprintf(w, "\t%s\t%.0f", thousands(int64(rate)), median(runs, func(r result) float64 { return float64(r.rss) }))
		}
		switch {
		case len(engines) == 2 && len(rates) == 2:
			fmt.Fprintf(w, "\t%.1f", rates[0]/rates[1])
		case len(engines) == 2:
			fmt.Fprint(w, "\t-")
		}
		fmt.Fprintf(w, "\t%s\n", r.outcome(engines))
	}
	return w.Flush()
}

// outcome is the verdict, and who failed.
func (r row) outcome(engines []engine) string {
	text := r.verdict.text
	for _, e := range engines {
		if err := r.failed[e.name()]; err != nil {
			text += "; " + e.name() + " failed: " + strings.TrimSpace(strings.SplitN(err.Error(), "\n", 2)[0])
		}
	}
	return text
}

// eventsOf says how many events the engines measured, once if it is the same for all.
func eventsOf(engines []engine, r row) string {
	var counts []string
	for _, e := range engines {
		if runs := r.runs[e.name()]; len(runs) > 0 {
			counts = append(counts, thousands(runs[0].events))
		}
	}
	if counts = slices.Compact(counts); len(counts) == 0 {
		return "-"
	}
	return strings.Join(counts, " / ")
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func median(runs []result, of func(result) float64) float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

const tsvHead = "query\tengine\trun\tevents\twall_s\tcpu_s\tevents_per_cpu_s\tins\tub\tua\tdel\tnet\trss_peak_mib\n"

// appendTSV appends a line for each measured run to a file.
func appendTSV(file string, rows []row) error {
	var b strings.Builder
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		b.WriteString(tsvHead)
	}
	for _, r := range rows {
		for _, name := range []string{"millstream", "flink"} {
			for i, run := range r.runs[name] {
				fmt.Fprintf(&b, "%s\t%s\t%d\t%d\t%.3f\t%.3f\t%.0f\t%d\t%d\t%d\t%d\t%d\t%d\n", r.query, name, i+1, run.events, run.wall, run.cpu,
					run.perCPUSecond(), run.kinds[0], run.kinds[1], run.kinds[2], run.kinds[3], run.net, run.rss)
			}
		}
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(b.String())
	return errors.Join(err, f.Close())
}
