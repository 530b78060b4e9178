package datagen

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text"
	"github.com/millstream-io/millstream/types"
)

// random is a stream of random numbers (splitmix64). Each value of each row has
// its own.
type random uint64

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r))
}

// below returns a number from 0 to n-1; n is 0 for 2^64.
func (r *random) below(n uint64) uint64 {
	if n == 0 {
		return r.next()
	}
	hi, _ := bits.Mul64(r.next(), n)
	return hi
}

// between returns a number from lo to hi.
func (r *random) between(lo, hi int64) int64 { return lo + int64(r.below(uint64(hi)-uint64(lo)+1)) }

// unit returns a number from 0 to below 1.
func (r *random) unit() float64 { return float64(r.next()>>11) / (1 << 53) }

// maker makes the columns of a chunk.
type maker struct {
	*reader
	// rows are the numbers of the rows, or, within a nested value, numbers
	// made from them.
	rows []int64
}

// fill appends a value for each row.
func (m *maker) fill(g *generator, v batch.Vector) {
	if g.nullRate == 0 && !g.sequence {
		if m.fillPlain(g, v) {
			return
		}
	}
	for i := range m.rows {
		r := m.stream(g, i)
		switch {
		case g.sequence:
			appendSequence(g, v, g.start+m.rows[i])
		case g.nullRate > 0 && r.next()>>32 < g.nullRate:
			v.AppendNull()
		default:
			m.append(g, v, i, &r)
		}
	}
}

func (m *maker) stream(g *generator, i int) random {
	return random(m.data.Seed ^ g.salt + uint64(m.rows[i])*0xd1342543de82ef95)
}

// fillPlain fills the commonest types without a call a row.
func (m *maker) fillPlain(g *generator, v batch.Vector) bool {
	switch v := v.(type) {
	case *batch.Fixed[int64]:
		if g.typ.Kind != types.BigInt && g.typ.Kind != types.Decimal {
			return false
		}
		for i := range m.rows {
			r := m.stream(g, i)
			v.Values = append(v.Values, r.between(g.min, g.max))
		}
	case *batch.Fixed[int32]:
		if g.typ.Kind != types.Int {
			return false
		}
		for i := range m.rows {
			r := m.stream(g, i)
			v.Values = append(v.Values, int32(r.between(g.min, g.max)))
		}
	default:
		return false
	}
	return true
}

// append appends one value that is not null.
func (m *maker) append(g *generator, v batch.Vector, i int, r *random) {
	switch v := v.(type) {
	case *batch.Fixed[bool]:
		v.Append(r.next()>>63 != 0)
	case *batch.Fixed[int8]:
		v.Append(int8(r.between(g.min, g.max)))
	case *batch.Fixed[int16]:
		v.Append(int16(r.between(g.min, g.max)))
	case *batch.Fixed[int32]:
		switch g.typ.Kind {
		case types.Date:
			days, _ := text.SplitDay(m.time(i))
			v.Append(int32(days))
		case types.Time:
			_, ms := text.SplitDay(m.time(i))
			v.Append(text.TruncateTime(int32(ms), int(g.typ.Precision)))
		default:
			v.Append(int32(r.between(g.min, g.max)))
		}
	case *batch.Fixed[int64]:
		if g.typ.IsTimestamp() {
			v.Append(text.TruncateMs(m.past(g, i, r), int(g.typ.Precision)))
			return
		}
		v.Append(r.between(g.min, g.max))
	case *batch.Fixed[types.TS]:
		v.Append(types.TS{Ms: m.past(g, i, r)})
	case *batch.Fixed[float32]:
		v.Append(float32(g.lo + (g.hi-g.lo)*r.unit()))
	case *batch.Fixed[float64]:
		v.Append(g.lo + (g.hi-g.lo)*r.unit())
	case *batch.Fixed[types.Int128]:
		v.Append(longDecimal(g, r))
	case *batch.Bytes:
		appendText(g, v, r)
	default:
		m.appendNested(g, v, i, r)
	}
}

// time is when the row is made, in ms.
func (m *maker) time(i int) int64 { return m.due(m.at + int64(i)) }

func (m *maker) past(g *generator, i int, r *random) int64 {
	if g.maxPast == 0 {
		return m.time(i)
	}
	return m.time(i) - int64(r.below(uint64(g.maxPast)))
}

// longDecimal returns a decimal of more than 18 digits: some leading digits at
// random between the bounds, and the rest at random as well.
func longDecimal(g *generator, r *random) types.Int128 {
	f := g.lo + (g.hi-g.lo)*r.unit()
	const lead = 15
	exp := int(math.Ceil(math.Log10(max(math.Abs(g.lo), math.Abs(g.hi), 1))))
	low := exp + int(g.typ.Scale) - lead
	if low <= 0 {
		return types.Int128FromInt64(int64(f * math.Pow10(int(g.typ.Scale))))
	}
	head, ok := types.Int128FromInt64(int64(f / math.Pow10(exp-lead))).MulOK(types.Pow10(low))
	tail := types.Int128FromInt64(int64(r.below(uint64(types.Pow10(min(low, 18)).Int64()))))
	if f < 0 {
		tail = tail.Neg()
	}
	if v := head.Add(tail); ok && v.FitsPrecision(int(g.typ.Precision)) {
		return v
	}
	return head
}

func appendText(g *generator, v *batch.Bytes, r *random) {
	n := g.length
	if g.varLen {
		n = 1 + int(r.below(uint64(n)))
	}
	const digits = "0123456789abcdef"
	at := len(v.Data)
	hex := g.typ.IsChar()
	for len(v.Data) < at+n {
		x := r.next()
		if !hex {
			v.Data = binary.LittleEndian.AppendUint64(v.Data, x)
			continue
		}
		for range 16 {
			v.Data = append(v.Data, digits[x&15])
			x >>= 4
		}
	}
	v.Data = v.Data[:at+n]
	v.Close()
}

func (m *maker) appendNested(g *generator, v batch.Vector, i int, r *random) {
	part := func(k int, v batch.Vector) {
		e := g.parts[k]
		if e.nullRate > 0 && r.next()>>32 < e.nullRate {
			v.AppendNull()
			return
		}
		m.append(e, v, i, r)
	}
	switch v := v.(type) {
	case *batch.List:
		for range g.length {
			part(0, v.Elem)
		}
		v.Close()
	case *batch.Map:
		keys := batch.New(v.Keys.Type(), g.length)
		for range g.length {
			part(0, keys)
		}
		kept := distinct(keys)
		batch.AppendTake(v.Keys, keys, kept)
		for range kept {
			if g.typ.Kind == types.Multiset {
				v.Vals.(*batch.Fixed[int32]).Append(int32(r.between(1, 10)))
				continue
			}
			part(1, v.Vals)
		}
		v.Close()
	case *batch.Row:
		for k := range v.Cols {
			part(k, v.Cols[k])
		}
		v.Close()
	}
}

// distinct returns the positions of the first of each key.
func distinct(keys batch.Vector) []int32 {
	var pos []int32
	seen := map[string]bool{}
	for k := range keys.Len() {
		key := string(text.AppendCell(nil, keys, k))
		if !seen[key] {
			seen[key] = true
			pos = append(pos, int32(k))
		}
	}
	return pos
}

// appendSequence appends a number of a sequence.
func appendSequence(g *generator, v batch.Vector, n int64) {
	switch v := v.(type) {
	case *batch.Fixed[int8]:
		v.Append(int8(n))
	case *batch.Fixed[int16]:
		v.Append(int16(n))
	case *batch.Fixed[int32]:
		v.Append(int32(n))
	case *batch.Fixed[int64]:
		if g.typ.Kind == types.Decimal {
			n *= types.Pow10(int(g.typ.Scale)).Int64()
		}
		v.Append(n)
	case *batch.Fixed[types.Int128]:
		x, _ := types.Int128FromInt64(n).MulOK(types.Pow10(int(g.typ.Scale)))
		v.Append(x)
	case *batch.Fixed[float32]:
		v.Append(float32(n))
	case *batch.Fixed[float64]:
		v.Append(float64(n))
	case *batch.Bytes:
		v.Data = strconv.AppendInt(v.Data, n, 10)
		v.Close()
	}
}
