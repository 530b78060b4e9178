package checkpoint

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/zeebo/xxh3"
)

// Of a split that has ended a job must know its name for ever, so that it does not
// read it again: a directory that is watched has more of them with each file. A
// manifest holds them in blocks with a compact form, in which a name costs what is new
// in it. A block with the splits that it had in the manifest before is not made again.
// In a block are
//
//	for each split, in the order of Seq:
//	  how many bytes its ID has in common with the one before, how many follow, and
//	  those; by how much Seq is larger; Seq less File; Reader
//
// All numbers are varints, and the whole is compressed.

// doneBlock is how many numbers (Seq) a block has.
const doneBlock = 1024

// packed are blocks by the hash of what is in them.
type packed map[uint64][]byte

// packDone makes the compact form of splits that are in the order of Seq. It takes
// blocks that are in old from there, and puts all into now.
func packDone(splits []Split, old, now packed) (out [][]byte, err error) {
	for len(splits) > 0 {
		n := 1
		for n < len(splits) && splits[n].Seq/doneBlock == splits[0].Seq/doneBlock {
			n++
		}
		key := hashDone(splits[:n])
		block, ok := old[key]
		if !ok {
			if block, err = packBlock(splits[:n]); err != nil {
				return nil, err
			}
		}
		now[key] = block
		out, splits = append(out, block), splits[n:]
	}
	return out, nil
}

// hashDone is the hash of all that a block is made of.
func hashDone(splits []Split) uint64 {
	h := xxh3.New()
	var nums [32]byte
	for _, s := range splits {
		for i, n := range []int64{int64(len(s.ID)), s.Seq, s.File, int64(s.Reader)} {
			binary.LittleEndian.PutUint64(nums[8*i:], uint64(n))
		}
		_, _ = h.Write(nums[:]) // a hash takes everything
		_, _ = h.WriteString(s.ID)
	}
	return h.Sum64()
}

func packBlock(splits []Split) ([]byte, error) {
	var plain []byte
	id, seq := "", int64(0)
	for _, s := range splits {
		same := 0
		for same < min(len(id), len(s.ID)) && id[same] == s.ID[same] {
			same++
		}
		plain = binary.AppendUvarint(plain, uint64(same))
		plain = binary.AppendUvarint(plain, uint64(len(s.ID)-same))
		plain = append(plain, s.ID[same:]...)
		plain = binary.AppendVarint(plain, s.Seq-seq)
		plain = binary.AppendVarint(plain, s.Seq-s.File)
		plain = binary.AppendUvarint(plain, uint64(s.Reader))
		id, seq = s.ID, s.Seq
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

var errDone = errors.New("a list of splits that have ended and that cannot be read")

// unpackDone is the inverse of packDone.
func unpackDone(blocks [][]byte) (splits []Split, err error) {
	for _, b := range blocks {
		if splits, err = unpackBlock(splits, b); err != nil {
			return nil, err
		}
	}
	return splits, nil
}

// unpackBlock appends the splits of a block.
func unpackBlock(splits []Split, block []byte) ([]Split, error) {
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(block)))
	if err != nil {
		return nil, errDone
	}
	r := bytes.NewReader(plain)
	id, seq := []byte(nil), int64(0)
	for r.Len() > 0 {
		same, err1 := binary.ReadUvarint(r)
		more, err2 := binary.ReadUvarint(r)
		if err1 != nil || err2 != nil || same > uint64(len(id)) || more > uint64(r.Len()) {
			return nil, errDone
		}
		id = append(id[:same], make([]byte, more)...)
		_, err1 = io.ReadFull(r, id[same:])
		step, err2 := binary.ReadVarint(r)
		back, err3 := binary.ReadVarint(r)
		reader, err4 := binary.ReadUvarint(r)
		if errors.Join(err1, err2, err3, err4) != nil {
			return nil, errDone
		}
		seq += step
		splits = append(splits, Split{ID: string(id), Seq: seq, File: seq - back, Reader: int(reader), Done: true})
	}
	return splits, nil
}

// pack is the manifest as it is stored.
func (m *Manifest) pack(old, now packed) (*Manifest, error) {
	out := *m
	out.Nodes = slices.Clone(m.Nodes)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		var open, done []Split
		for _, s := range n.Splits {
			if s.Done {
				done = append(done, s)
			} else {
				open = append(open, s)
			}
		}
		var err error
		n.Splits = open
		if n.Done, err = packDone(done, old, now); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// unpack is the inverse of pack. What older versions have stored it leaves as it
// is.
func (m *Manifest) unpack() error {
	for i := range m.Nodes {
		n := &m.Nodes[i]
		done, err := unpackDone(n.Done)
		if err != nil {
			return err
		}
		if len(done) > 0 {
			n.Splits = append(done, n.Splits...)
			slices.SortFunc(n.Splits, bySeq)
		}
		n.Done = nil
	}
	return nil
}

func bySeq(a, b Split) int { return cmp.Compare(a.Seq, b.Seq) }
