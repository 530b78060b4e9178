package gen

// Kind is what an event is about; its number is the column event_type.
type Kind int32

const (
	Person Kind = iota
	Auction
	Bid
)

// Kinds is how many kinds there are.
const Kinds = 3

// One epoch is a person, three auctions and 46 bids.
const (
	epochLen         = 50
	auctionsPerEpoch = 3
)

const orderKey uint64 = 0x6F72646572000005

// A Generator holds what all events of a stream have in common. It does not change, so readers may share it.
type Generator struct {
	params  Params
	key     uint64
	horizon uint64 // auctions last at most so many ms
	shift   uint   // of the shuffle within groups
}

// New checks the parameters and returns their generator.
func New(p Params) (*Generator, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	g := &Generator{params: p, key: mix(uint64(p.Seed) + gamma), shift: 1}
	g.horizon = uint64(max(2*(1_666_000/p.Rate), 1))
	for 1<<(2*g.shift+2) <= p.Disorder {
		g.shift++
	}
	return g, nil
}

// EventAt is the number of the event at a position of the stream.
func (g *Generator) EventAt(position int64) int64 {
	group := g.params.Disorder
	first := position & -group
	if group == 1 || first+group > g.params.Events {
		return position
	}
	mask := uint64(group - 1)
	x := (uint64(position) + mix(g.key+orderKey+uint64(first)*gamma)) & mask
	x = x * 0x2C1B3C6D & mask
	x ^= x >> g.shift
	x = x * 0x297A2D39 & mask
	return first + int64(x)
}

// A Block is a run of rows of a split: [Block.Read] sets it, then its columns can be asked for in any order, any
// number of times. It is scratch memory of one reader.
type Block struct {
	g     *Generator
	n     []int64        // event number of each row
	key   []uint64       // of its slots
	rows  [Kinds][]int32 // row numbers of each kind
	times []int64        // made when first asked for; empty before
}

// NewBlock returns an empty block of the generator's stream.
func (g *Generator) NewBlock() *Block { return &Block{g: g} }

// Read sets the block to rows from to from+count-1 of a split; the caller sees to it that the split has them.
func (b *Block) Read(s Split, from int64, count int) {
	b.n, b.key, b.times = resize(b.n, count), resize(b.key, count), b.times[:0]
	for i := 0; i < count; {
		first := s.Position(from + int64(i))
		run := count - i
		if s.Of > 1 {
			run = min(run, int(blockLen-first%blockLen))
		}
		n := b.n[i : i+run]
		for j := range n {
			n[j] = first + int64(j)
		}
		if b.g.params.Disorder > 1 {
			for j, position := range n {
				n[j] = b.g.EventAt(position)
			}
		}
		i += run
	}
	for i, n := range b.n {
		b.key[i] = indexKey(b.g.key, uint64(n))
	}
	b.sortByKind()
}

func (b *Block) sortByKind() {
	for k := range b.rows {
		b.rows[k] = b.rows[k][:0]
	}
	bids := resize(b.rows[Bid], len(b.n))
	count := 0
	for i, n := range b.n {
		o := uint64(n) % epochLen
		bids[count] = int32(i)
		switch {
		case o > auctionsPerEpoch:
			count++
		case o > 0:
			b.rows[Auction] = append(b.rows[Auction], int32(i))
		default:
			b.rows[Person] = append(b.rows[Person], int32(i))
		}
	}
	b.rows[Bid] = bids[:count]
}

// Len is the number of rows.
func (b *Block) Len() int { return len(b.n) }

// Rows are the numbers of the rows of one kind in rising order, valid until the next Read.
func (b *Block) Rows(k Kind) []int32 { return b.rows[k] }

// Types sets dst[i] to the kind of row i.
func (b *Block) Types(dst []int32) {
	dst = dst[:len(b.n)]
	for i := range dst {
		dst[i] = int32(Bid)
	}
	for _, k := range []Kind{Person, Auction} {
		for _, i := range b.rows[k] {
			dst[i] = int32(k)
		}
	}
}

// Times are the event times of all rows in ms since 1970-01-01 UTC, whatever their kind, valid until the next Read.
func (b *Block) Times() []int64 {
	if len(b.times) == len(b.n) {
		return b.times
	}
	b.times = resize(b.times, len(b.n))
	b.placeTimes()
	if late := uint64(b.g.params.Late); late > 0 {
		lateMs := uint64(b.g.params.LateMs)
		for i, k := range b.key {
			if r := slot(k, 0); hi(r, 1000) < late {
				b.times[i] -= 1 + int64(lo(r, lateMs))
			}
		}
	}
	return b.times
}

// placeTimes sets the times that follow from the events' numbers. As divisions by the rate are slow and most numbers
// follow one another, it carries the quotient and the remainder on.
func (b *Block) placeTimes() {
	rate, base := uint64(b.g.params.Rate), b.g.params.Base
	step, stepRest := uint64(1000)/rate, uint64(1000)%rate
	last := int64(-2)
	var ms, rest uint64
	for i, n := range b.n {
		if n == last+1 {
			ms, rest = ms+step, rest+stepRest
			if rest >= rate {
				ms, rest = ms+1, rest-rate
			}
		} else {
			ms, rest = uint64(n)*1000/rate, uint64(n)*1000%rate
		}
		last = n
		b.times[i] = base + int64(ms)
	}
}

// resize returns a slice of n elements with s's memory where that is enough. What they hold is up to the caller.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
