package batch

import (
	"math"

	"github.com/zeebo/xxh3"

	"github.com/millstream-io/millstream/types"
)

// KeyGroups is the number of key groups that the keys of a stream are divided
// into. A key group is the unit in which state moves between subtasks; it is
// part of what checkpoints hold, so the number never changes.
const KeyGroups = 128

const keyGroupBits = 7

// The hash of a row is part of what checkpoints hold: it decides the key group.
// So these constants, and the functions below, may never change.
const (
	hashSeed = 0x9e3779b97f4a7c15
	hashStep = 0xd6e8feb86659fd93
	hashNull = 0x5bd1e995b7f1a2c3
)

// mix is a bijection of 64 bits in which each bit of the input changes about
// half of those of the output.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xe9846af9b1a615d
	x ^= x >> 32
	x *= 0xe9846af9b1a615d
	return x ^ x>>28
}

// fold adds one column's value to the hash of the columns before it.
func fold(h, v uint64) uint64 { return mix(h*hashStep + v) }

// Hash returns the hash of each row's values in cols, by physical position, and
// uses out if it is large enough. n is the number of positions in the columns;
// sel lists those to hash, nil meaning all, and the others' results are
// unspecified.
//
// The result depends on values only: it is the same on each machine and in each
// run. Integers of any width, and dates and times held as such, hash alike if
// they are equal; -0.0 is 0.0, all NaNs are one, and NULL has its own value.
func Hash(cols []Vector, sel []int32, n int, out []uint64) []uint64 {
	if cap(out) < n {
		out = make([]uint64, n)
	}
	out = out[:n]
	if sel == nil {
		for i := range out {
			out[i] = hashSeed
		}
	} else {
		for _, p := range sel {
			out[p] = hashSeed
		}
	}
	for _, v := range cols {
		hashColumn(v, sel, out)
	}
	return out
}

func hashColumn(v Vector, sel []int32, out []uint64) {
	switch v := v.(type) {
	case *Fixed[int64]:
		hashInts(v, sel, out)
	case *Fixed[int32]:
		hashInts(v, sel, out)
	case *Fixed[int16]:
		hashInts(v, sel, out)
	case *Fixed[int8]:
		hashInts(v, sel, out)
	case *Bytes:
		hashEach(v.Valid, sel, out, func(p int) uint64 { return xxh3.Hash(v.At(p)) })
	case *Fixed[bool]:
		hashEach(v.Valid, sel, out, func(p int) uint64 {
			if v.Values[p] {
				return 1
			}
			return 0
		})
	case *Fixed[float64]:
		hashEach(v.Valid, sel, out, func(p int) uint64 { return floatBits(v.Values[p]) })
	case *Fixed[float32]:
		hashEach(v.Valid, sel, out, func(p int) uint64 { return floatBits(float64(v.Values[p])) })
	case *Fixed[types.Int128]:
		hashEach(v.Valid, sel, out, func(p int) uint64 { return fold(uint64(v.Values[p].Hi), v.Values[p].Lo) })
	case *Fixed[types.TS]:
		hashEach(v.Valid, sel, out, func(p int) uint64 { return fold(uint64(v.Values[p].Ns), uint64(v.Values[p].Ms)) })
	default:
		var buf []byte
		hashEach(v.Validity(), sel, out, func(p int) uint64 {
			buf = AppendKey(buf[:0], v, p)
			return xxh3.Hash(buf)
		})
	}
}

// hashInts has the loops of the most common keys written out.
func hashInts[T int8 | int16 | int32 | int64](v *Fixed[T], sel []int32, out []uint64) {
	vals, valid := v.Values, v.Valid
	switch {
	case valid != nil && sel != nil:
		for _, p := range sel {
			x := uint64(vals[p])
			if valid[p>>6]&(1<<(uint(p)&63)) == 0 {
				x = hashNull
			}
			out[p] = fold(out[p], x)
		}
	case valid != nil:
		hashEach(valid, nil, out, func(p int) uint64 { return uint64(vals[p]) })
	case sel == nil:
		vals = vals[:len(out)]
		for i, h := range out {
			out[i] = fold(h, uint64(vals[i]))
		}
	default:
		for _, p := range sel {
			out[p] = fold(out[p], uint64(vals[p]))
		}
	}
}

func hashEach(valid Bitmap, sel []int32, out []uint64, value func(p int) uint64) {
	if sel == nil {
		for p, h := range out {
			if valid.IsNull(p) {
				out[p] = fold(h, hashNull)
				continue
			}
			out[p] = fold(h, value(p))
		}
		return
	}
	for _, s := range sel {
		p := int(s)
		if valid.IsNull(p) {
			out[p] = fold(out[p], hashNull)
			continue
		}
		out[p] = fold(out[p], value(p))
	}
}

// floatBits is math.Float64bits with one zero and one NaN.
func floatBits(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return 0x7ff8000000000000
	}
	return math.Float64bits(f)
}

// KeyGroup returns the key group, from 0, of a row with hash h.
func KeyGroup(h uint64) int { return int(h >> (64 - keyGroupBits)) }

// GroupHash returns a hash whose key group is the given one, where nothing else of a
// row's hash is known.
func GroupHash(keyGroup int) uint64 { return uint64(keyGroup) << (64 - keyGroupBits) }

// SubtaskOf returns which of parallelism subtasks has a key group. Each has a
// contiguous range of them.
func SubtaskOf(keyGroup, parallelism int) int { return keyGroup * parallelism / KeyGroups }

// KeyGroupRange returns the key groups [lo, hi) of a subtask.
func KeyGroupRange(subtask, parallelism int) (lo, hi int) {
	return (subtask*KeyGroups + parallelism - 1) / parallelism, ((subtask+1)*KeyGroups + parallelism - 1) / parallelism
}

// Partition returns, for each subtask, the physical positions of the rows of b
// that go to it, ascending. hashes are those of Hash, by physical position.
func Partition(b *Batch, hashes []uint64, parallelism int) [][]int32 {
	var subtask [KeyGroups]int32
	for g := range subtask {
		subtask[g] = int32(SubtaskOf(g, parallelism))
	}
	ends := make([]int32, parallelism)
	n := b.Rows()
	if b.Sel == nil {
		for _, h := range hashes[:n] {
			ends[subtask[KeyGroup(h)]]++
		}
	} else {
		for _, p := range b.Sel {
			ends[subtask[KeyGroup(hashes[p])]]++
		}
	}
	all := make([]int32, n)
	out := make([][]int32, parallelism)
	at := int32(0)
	for s := range out {
		size := ends[s]
		out[s] = all[at : at : at+size]
		ends[s] = at
		at += size
	}
	put := func(p int32) {
		s := subtask[KeyGroup(hashes[p])]
		all[ends[s]] = p
		ends[s]++
	}
	if b.Sel == nil {
		for p := range int32(n) {
			put(p)
		}
	} else {
		for _, p := range b.Sel {
			put(p)
		}
	}
	for s := range out {
		out[s] = out[s][:cap(out[s])]
	}
	return out
}
