// Package checkpoint holds what makes a consistent cut of a running job
// durable: the coordinator, which decides what happens when (a pure state
// machine without goroutines and clock), the manifest, which is all there is to
// a checkpoint besides state files, and the directory that keeps both.
//
// The put of the manifest is the commit point of a checkpoint: before it the
// checkpoint does not exist, after it everything it names is durable.
package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/millstream-io/millstream/internal/state"
)

// Version is the format that this program writes; it reads those from oldest on.
// Version 2 has the sums of the ends of state files, version 3 a compact list of
// splits that have ended.
const (
	Version = 3
	oldest  = 1
)

// Manifest describes one checkpoint completely.
type Manifest struct {
	// Job is the job's name, JobID tells this job from earlier ones under the
	// same name.
	Job   string `json:"job"`
	JobID string `json:"jobId"`
	// ID numbers the checkpoints of a job, from 1; Incarnation the starts of it.
	ID          int64 `json:"id"`
	Incarnation int64 `json:"incarnation"`
	// Time is when the checkpoint was begun, in ms since the epoch.
	Time int64 `json:"time"`
	// Plan is the fingerprint of the graph.
	Plan string `json:"plan"`
	// Finished is set for the last checkpoint of a job whose input has ended.
	Finished bool `json:"finished,omitempty"`
	// Savepoint is set for a checkpoint that stays until it is deleted.
	Savepoint bool `json:"savepoint,omitempty"`
	// Published is set for a copy that was made when the sinks had published
	// all that belongs to the checkpoint.
	Published bool `json:"published,omitempty"`
	// Drained is set if the job was told that its input had ended, although it
	// had not: windows are closed that have rows to come.
	Drained bool   `json:"drained,omitempty"`
	Nodes   []Node `json:"nodes"`
}

// Node is the part of one node of the graph.
type Node struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Keeps is that of graph.Node.
	Keeps []string `json:"keeps,omitempty"`
	// Subtasks has one element for each subtask, in order.
	Subtasks []Subtask `json:"subtasks"`
	// Splits are those of a source, in the order in which they were found.
	Splits []Split `json:"splits,omitempty"`
	// Done are those that have ended, in a stored manifest (see packDone); elsewhere
	// they are among Splits.
	Done [][]byte `json:"done,omitempty"`
	// Counters are the sums over the subtasks, by name.
	Counters []Counter `json:"counters,omitempty"`
}

// Subtask is the part of one instance of a node.
type Subtask struct {
	// Watermark is the time that the instance had seen.
	Watermark int64 `json:"watermark"`
	// Ended are the inputs whose end the instance has seen.
	Ended []int `json:"ended,omitempty"`
	// State is nil for instances without tables.
	State *state.Info `json:"state,omitempty"`
	// Sink is what a sink's writer returned at the barrier.
	Sink []byte `json:"sink,omitempty"`
}

// Split is how far a split of a source was read.
type Split struct {
	ID string `json:"id"`
	// Seq is the number of the split in the order of discovery.
	Seq int64 `json:"seq"`
	// File is the Seq of the split of which it is a sequel, or its own.
	File int64 `json:"file"`
	// Reader is the subtask that reads it.
	Reader int `json:"reader"`
	// Done is set for a split that has ended; only its ID matters then.
	Done     bool   `json:"done,omitempty"`
	Data     []byte `json:"data,omitempty"`
	Position []byte `json:"position,omitempty"`
	// Ends and Sequel are those of connector.Split.
	Ends   bool `json:"ends,omitempty"`
	Sequel bool `json:"sequel,omitempty"`
	// Opened is set once the split counts for the reader's watermark.
	// Watermark, Idle and Behind are the state of its time then; Held is the
	// watermark that its rows allow, which may not have been sent yet.
	Opened    bool  `json:"opened,omitempty"`
	Watermark int64 `json:"watermark,omitempty"`
	Held      int64 `json:"held,omitempty"`
	Idle      bool  `json:"idle,omitempty"`
	Behind    bool  `json:"behind,omitempty"`
}

// Counter is a number that operators count up, such as late rows.
type Counter struct {
	Name string `json:"name"`
	N    int64  `json:"n"`
}

// Node returns the node with the given ID, or nil.
func (m *Manifest) Node(id string) *Node {
	for i := range m.Nodes {
		if m.Nodes[i].ID == id {
			return &m.Nodes[i]
		}
	}
	return nil
}

// HasState reports whether anything would be lost without the node.
func (n *Node) HasState() bool {
	if len(n.Splits) > 0 {
		return true
	}
	for _, s := range n.Subtasks {
		if s.State != nil || s.Sink != nil {
			return true
		}
	}
	return false
}

// Add takes in what tasks have saved; their nodes are in m already.
func (m *Manifest) Add(parts []*Part) {
	for _, part := range parts {
		for _, p := range part.Nodes {
			n := m.Node(p.Node)
			n.Subtasks[p.Index] = p.Subtask
			n.Splits = append(n.Splits, p.Splits...)
			for _, c := range p.Counters {
				n.count(c)
			}
		}
	}
	for i := range m.Nodes {
		slices.SortFunc(m.Nodes[i].Splits, bySeq)
	}
}

func (n *Node) count(c Counter) {
	i, found := slices.BinarySearchFunc(n.Counters, c.Name, func(c Counter, name string) int { return cmp.Compare(c.Name, name) })
	if !found {
		n.Counters = slices.Insert(n.Counters, i, Counter{Name: c.Name})
	}
	n.Counters[i].N += c.N
}

// Size is the length of all state files of the checkpoint.
func (m *Manifest) Size() int64 {
	var n int64
	m.files(func(f state.FileInfo) { n += f.Length })
	return n
}

// files calls f with each file that the checkpoint needs.
func (m *Manifest) files(f func(state.FileInfo)) {
	for _, n := range m.Nodes {
		for _, s := range n.Subtasks {
			if s.State == nil {
				continue
			}
			for _, file := range s.State.Files {
				f(file)
			}
		}
	}
}

// magic begins the first line of a manifest.
const magic = "millstream-checkpoint"

// Encode returns the manifest as the bytes of a file.
func (m *Manifest) Encode() ([]byte, error) { return m.encode(nil, packed{}) }

// encode is Encode with the blocks of the manifest before, and notes its own.
func (m *Manifest) encode(old, now packed) ([]byte, error) {
	stored, err := m.pack(old, now)
	if err != nil {
		return nil, err
	}
	body, err := json.MarshalIndent(stored, "", " ")
	if err != nil {
		return nil, err
	}
	return Seal(magic, append(body, '\n')), nil
}

// Decode reads a manifest and verifies all of it. name is that of its file, for
// errors.
func Decode(name string, data []byte) (*Manifest, error) {
	body, err := Unseal(magic, name, data)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	err = dec.Decode(m)
	if err == nil {
		err = m.unpack()
	}
	if err != nil {
		return nil, damaged(name, "a manifest", err.Error())
	}
	return m, nil
}

// Seal puts a line before the content of a file, from which Unseal can tell
// whether it is whole: a word, the format's version, and the length and the
// hash of the rest.
func Seal(magic string, body []byte) []byte { return seal(magic, Version, body) }

func seal(magic string, version int, body []byte) []byte {
	head := fmt.Sprintf("%s %d %d %016x\n", magic, version, len(body), sealHash(version, body))
	return append([]byte(head), body...)
}

// sealHash is the hash of a content. From version 3 on it is one of the version as
// well: one wrong bit must not make another version of it.
func sealHash(version int, body []byte) uint64 {
	if version < 3 {
		return xxh3.Hash(body)
	}
	return xxh3.HashSeed(body, uint64(version))
}

// Unseal verifies what Seal has made and returns the content.
func Unseal(magic, name string, data []byte) (body []byte, err error) {
	head, body, found := bytes.Cut(data, []byte("\n"))
	f := strings.Split(string(head), " ")
	if !found || len(f) != 4 || f[0] != magic {
		return nil, damaged(name, fmt.Sprintf("a first line %q with version, length and hash", magic),
			fmt.Sprintf("%q", head[:min(len(head), 60)]))
	}
	v, err := strconv.Atoi(f[1])
	if err != nil || v < oldest || v > Version {
		return nil, &RefusedError{fmt.Sprintf("%s has format %s, and this program reads formats %d to %d; "+
			"use the version of millstream that wrote it", name, f[1], oldest, Version)}
	}
	if n := strconv.Itoa(len(body)); n != f[2] {
		return nil, damaged(name, f[2]+" bytes behind the first line", n)
	}
	if h := fmt.Sprintf("%016x", sealHash(v, body)); h != f[3] {
		return nil, damaged(name, "hash "+f[3], h)
	}
	return body, nil
}

// RefusedError says that the kept state cannot be used, and why.
type RefusedError struct{ Msg string }

// Error implements error.
func (e *RefusedError) Error() string { return e.Msg }

// Refused tells it from failures where the type is not known.
func (e *RefusedError) Refused() bool { return true }

func damaged(name, want, got string) error {
	return &RefusedError{fmt.Sprintf("%s is damaged: expected %s, found %s; restore the file, or start anew with --fresh", name, want, got)}
}

func missing(name, why string) error {
	return &RefusedError{fmt.Sprintf("%s is missing: expected %s, found no such file; restore it, or start anew with --fresh", name, why)}
}

// String prints the manifest for people and goldens.
func (m *Manifest) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "checkpoint %d of job %s, incarnation %d", m.ID, m.Job, m.Incarnation)
	for _, mark := range []struct {
		set  bool
		text string
	}{{m.Savepoint, "savepoint"}, {m.Published, "published"}, {m.Drained, "drained"}, {m.Finished, "finished"}} {
		if mark.set {
			b.WriteString(", " + mark.text)
		}
	}
	b.WriteByte('\n')
	for i := range m.Nodes {
		m.Nodes[i].write(&b)
	}
	return b.String()
}

func (n *Node) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s %s\n", n.ID, n.Name)
	for _, s := range n.Splits {
		fmt.Fprintf(b, "  split %d %q", s.Seq, s.ID)
		if s.Done {
			b.WriteString(" done\n")
			continue
		}
		fmt.Fprintf(b, " at %x", s.Position)
		if s.Opened {
			b.WriteString(", watermark " + showTime(s.Watermark))
		}
		if s.Idle {
			b.WriteString(" idle")
		}
		b.WriteByte('\n')
	}
	for i, s := range n.Subtasks {
		fmt.Fprintf(b, "  [%d] watermark %s", i, showTime(s.Watermark))
		if s.Sink != nil {
			fmt.Fprintf(b, ", sink %q", s.Sink)
		}
		b.WriteByte('\n')
		if s.State == nil {
			continue
		}
		for _, t := range s.State.Tables {
			fmt.Fprintf(b, "    table %s %s\n", t.Name, t)
		}
		for _, f := range s.State.Files {
			fmt.Fprintf(b, "    file %s %d bytes %s\n", f.Name, f.Length, f.Sum)
		}
	}
	for _, c := range n.Counters {
		fmt.Fprintf(b, "  %s %d\n", c.Name, c.N)
	}
}

// showTime prints a watermark with its two ends in words.
func showTime(ms int64) string {
	switch ms {
	case -1 << 63:
		return "none"
	case 1<<63 - 1:
		return "end"
	}
	return strconv.FormatInt(ms, 10)
}
