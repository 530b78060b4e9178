package main

import (
	"fmt"

	"github.com/millstream-io/millstream/connector/nexmark/gen"
)

// A job is one run of a query.
type job struct {
	query       query
	params      gen.Params
	parallelism int
	sink        string // mode of the checksum sink: count or hash
	preload     bool   // make the events before the measured time
	warm        bool   // let the engine warm up before
	input       string // the file that the query reads, if it does
	inputRows   int64
}

// events is how many events the job handles: a row of a file counts as one.
func (j job) events() int64 {
	if j.query.format() != "" {
		return j.inputRows
	}
	return j.params.Events
}

// A result is what came out of a job.
type result struct {
	events    int64
	wall, cpu float64 // seconds
	rss       int64   // peak of resident memory in MiB; 0 if unknown
	kinds     [4]int64
	answer
}

func (r result) perCPUSecond() float64 { return float64(r.events) / r.cpu }

// An answer is what the checksum sink says of the rows that are left.
type answer struct {
	net int64
	sum string
}

func (a answer) String() string { return fmt.Sprintf("net=%d sum=%s", a.net, a.sum) }

// An engine runs jobs.
type engine interface {
	name() string
	run(j job) (result, error)
}
