package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// watched is a manifest of a source that has read n files and has three more.
func watched(n int) *Manifest {
	m := &Manifest{Job: "j", JobID: "f00", ID: 7, Nodes: []Node{{ID: "source:t", Name: "Source", Subtasks: make([]Subtask, 2)}, {ID: "x", Name: "X"}}}
	for i := range n {
		s := Split{ID: fmt.Sprintf("/data/landing/day=2026-%02d-%02d/events-%08x.csv@0", i/28%12+1, i%28+1, uint32(i)*2654435761), Seq: int64(i), File: int64(i), Reader: i % 2, Done: true}
		if i%50 == 7 {
			s.ID, s.File = s.ID[:len(s.ID)-1]+"1048576", s.Seq-1
		}
		m.Nodes[0].Splits = append(m.Nodes[0].Splits, s)
	}
	for i := range 3 {
		m.Nodes[0].Splits = append(m.Nodes[0].Splits, Split{ID: fmt.Sprintf("/data/landing/z-%d.csv@0", i), Seq: int64(n + i), File: int64(n + i), Data: []byte("{}"), Position: []byte{1, 2}, Ends: true, Opened: true, Watermark: 5})
	}
	return m
}

// TestDoneSplits: a manifest gives back all names that it was given, and a name
// costs few bytes in it.
func TestDoneSplits(t *testing.T) {
	for _, n := range []int{0, 1, 2, 500, 20_000} {
		m := watched(n)
		data, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Nodes[0].Splits) != n+3 || m.Nodes[0].Done != nil {
			t.Errorf("%d files: encoding has changed the manifest", n)
		}
		back, err := Decode("m", data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, m) {
			t.Errorf("%d files: not what was encoded", n)
		}
		if most := 1200 + 16*n; len(data) > most {
			t.Errorf("%d files: %d bytes, want at most %d", n, len(data), most)
		}
	}
}

// TestDoneSplitsOfAnyKind: IDs need not be like each other, nor in order.
func TestDoneSplitsOfAnyKind(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var splits []Split
		seq := int64(0)
		for range rnd.IntN(50) {
			id := make([]byte, rnd.IntN(300))
			for i := range id {
				id[i] = byte(rnd.IntN(3) * 127)
			}
			seq += rnd.Int64N(1000)
			splits = append(splits, Split{ID: string(id), Seq: seq, File: rnd.Int64N(seq + 1), Reader: rnd.IntN(1 << 20), Done: true})
		}
		blocks, err := packDone(splits, nil, packed{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpackDone(blocks)
		if err != nil || !reflect.DeepEqual(got, splits) {
			t.Fatalf("%v, %v, want %v", got, err, splits)
		}
		// What is cut off or changed is an error, or a list, and never a panic.
		for _, b := range blocks {
			for range 5 {
				broken := bytes.Clone(b[:rnd.IntN(len(b))])
				if len(broken) > 0 {
					broken[rnd.IntN(len(broken))] ^= byte(1 + rnd.IntN(255))
				}
				_, _ = unpackDone([][]byte{broken})
			}
		}
	}
}

// TestDoneBlocks: of the list of the manifest before only the last block is made
// again, and one in which a split that took longer has ended.
func TestDoneBlocks(t *testing.T) {
	m := watched(10 * doneBlock)
	m.Nodes[0].Splits[5*doneBlock+7].Done = false
	first := packed{}
	if _, err := m.encode(nil, first); err != nil {
		t.Fatal(err)
	}
	m.Nodes[0].Splits[5*doneBlock+7].Done = true
	m.Nodes[0].Splits[10*doneBlock].Done = true // it begins a block
	second := packed{}
	data, err := m.encode(first, second)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for key := range second {
		if first[key] == nil {
			made++
		}
	}
	if len(first) != 10 || len(second) != 11 || made != 2 {
		t.Errorf("%d blocks, then %d, of which %d are new", len(first), len(second), made)
	}
	// A split that has ended has no position any more.
	m.Nodes[0].Splits[10*doneBlock] = Split{ID: "/data/landing/z-0.csv@0", Seq: 10 * doneBlock, File: 10 * doneBlock, Done: true}
	if back, err := Decode("m", data); err != nil || !reflect.DeepEqual(back, m) {
		t.Errorf("not what was encoded: %v", err)
	}
}

// TestDoneSplitsOfOlderVersions: manifests with one object for each split are read.
func TestDoneSplitsOfOlderVersions(t *testing.T) {
	m := watched(30)
	body, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []int{1, 2} {
		back, err := Decode("m", seal(magic, version, body))
		if err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// BenchmarkEncode is what a checkpoint costs of a source that has read many files.
func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := watched(n)
			var data []byte
			old := packed{}
			for b.Loop() {
				now := packed{}
				var err error
				if data, err = m.encode(old, now); err != nil {
					b.Fatal(err)
				}
				old = now
			}
			b.ReportMetric(float64(len(data))/float64(n), "bytes/file")
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "files/s")
		})
	}
}
