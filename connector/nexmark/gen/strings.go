package gen

// text is a column of strings under way.
type text struct {
	off  []int32
	data []byte
	next int32 // the first row whose beginning is not set
}

// begin sets where row i begins. The rows passed over are empty.
func (t *text) begin(i int32) {
	at := int32(len(t.data))
	for ; t.next <= i; t.next++ {
		t.off[t.next] = at
	}
}

// Strings appends the column's strings to data and returns it, and sets off[i] and off[i+1] to the two ends of row
// i's string there, so off takes one number more than the block has rows. Rows of other kinds have empty strings.
// The offsets must not outgrow 31 bits.
func (b *Block) Strings(c Column, off []int32, data []byte) []byte {
	t := &text{off: off[:len(b.n)+1], data: data}
	rows := b.rows[c.Kind()]
	switch c {
	case PersonName:
		for _, i := range rows {
			r := slot(b.key[i], 1)
			t.begin(i)
			t.data = append(append(append(t.data, firstName(r)...), ' '), lastName(r)...)
		}
	case PersonEmail:
		b.emails(t, rows)
	case PersonCard:
		for _, i := range rows {
			t.begin(i)
			t.data = appendCard(t.data, slot(b.key[i], 4))
		}
	case PersonCity:
		for _, i := range rows {
			t.begin(i)
			t.data = append(t.data, city(slot(b.key[i], 5))...)
		}
	case PersonState:
		for _, i := range rows {
			t.begin(i)
			t.data = append(t.data, state(slot(b.key[i], 5))...)
		}
	case PersonExtra:
		b.personExtras(t, rows)
	case AuctionItem:
		b.phrases(t, rows, 6, itemSpan)
	case AuctionDescription:
		b.phrases(t, rows, 7, descriptionSpan)
	case AuctionExtra:
		b.auctionExtras(t, rows)
	case BidChannel:
		b.ofChannels(t, rows, channelNames())
	case BidURL:
		b.ofChannels(t, rows, channelURLs())
	case BidExtra:
		b.bidExtras(t, rows)
	default:
		panic("gen: column " + c.Kind().Name() + "." + c.Name() + " holds no strings")
	}
	t.begin(int32(len(b.n)))
	return t.data
}

func firstName(r uint64) string { return firstNames[hi(r, uint64(len(firstNames)))] }
func lastName(r uint64) string  { return lastNames[lo(r, uint64(len(lastNames)))] }
func city(r uint64) string      { return cities[hi(r, uint64(len(cities)))] }
func state(r uint64) string     { return states[lo(r, uint64(len(states)))] }

// Words and phrases have at least so many letters, and fewer than that and their span together.
const (
	minLetters      = 3
	userSpan        = 4
	hostSpan        = 2
	itemSpan        = 17
	descriptionSpan = 97
)

// letterCount is the length of piece(pool, r, minLetters, span).
func letterCount(r, span uint64) uint64 { return minLetters + hi(r, span) }

func (b *Block) emails(t *text, rows []int32) {
	pool := letterPool()
	for _, i := range rows {
		t.begin(i)
		t.data = append(t.data, piece(pool, slot(b.key[i], 2), minLetters, userSpan)...)
		t.data = append(t.data, '@')
		t.data = append(t.data, piece(pool, slot(b.key[i], 3), minLetters, hostSpan)...)
		t.data = append(t.data, ".com"...)
	}
}

const cardLen = 19

// appendCard appends a credit card's number: four groups of four digits, each from 16 bits of r.
func appendCard(dst []byte, r uint64) []byte {
	for g := range 4 {
		if g > 0 {
			dst = append(dst, ' ')
		}
		dst = appendPadded(dst, (r>>(48-16*g)&0xFFFF)*10_000>>16, 4)
	}
	return dst
}

// appendPadded appends the last digits of v.
func appendPadded(dst []byte, v uint64, digits int) []byte {
	from := len(dst)
	dst = append(dst, "0000"[:digits]...)
	for i := len(dst) - 1; i >= from; i-- {
		dst[i] = '0' + byte(v%10)
		v /= 10
	}
	return dst
}

// extra fills a row up to about its usual size: room is what its other strings leave, give or take a fifth.
func extra(pool []byte, r, room uint64) []byte {
	fifth := room / 5
	return piece(pool, r, room-fifth, 2*fifth)
}

func (b *Block) personExtras(t *text, rows []int32) {
	pool := letterPool()
	for _, i := range rows {
		k := b.key[i]
		name, place := slot(k, 1), slot(k, 5)
		used := len(firstName(name)) + len(" ") + len(lastName(name)) + cardLen + len(city(place)) + len(state(place)) +
			int(letterCount(slot(k, 2), userSpan)+letterCount(slot(k, 3), hostSpan)) + len("@.com")
		t.begin(i)
		t.data = append(t.data, extra(pool, slot(k, 6), uint64(192-used))...)
	}
}

func (b *Block) auctionExtras(t *text, rows []int32) {
	pool := letterPool()
	for _, i := range rows {
		k := b.key[i]
		used := letterCount(slot(k, 6), itemSpan) + letterCount(slot(k, 7), descriptionSpan)
		t.begin(i)
		t.data = append(t.data, extra(pool, slot(k, 8), 452-used)...)
	}
}

func (b *Block) bidExtras(t *text, rows []int32) {
	pool := letterPool()
	for _, i := range rows {
		t.begin(i)
		t.data = append(t.data, extra(pool, slot(b.key[i], 5), 68)...)
	}
}

// phrases are pieces of the text pool that neither begin nor end with a space.
func (b *Block) phrases(t *text, rows []int32, slotNumber, span uint64) {
	pool := textPool()
	for _, i := range rows {
		t.begin(i)
		t.data = append(t.data, piece(pool, slot(b.key[i], slotNumber), minLetters, span)...)
		for _, end := range []int{int(t.off[i]), len(t.data) - 1} {
			if t.data[end] == ' ' {
				t.data[end] = 'x'
			}
		}
	}
}

// ofChannels are what a table says of the bids' channels: half of them busy ones.
func (b *Block) ofChannels(t *text, rows []int32, table *stringTable) {
	for _, i := range rows {
		r := slot(b.key[i], 4)
		c := lo(r, channels)
		if hi(r, 2) > 0 {
			c = channels + lo(r, uint64(len(busy)))
		}
		t.begin(i)
		t.data = append(t.data, table.at(c)...)
	}
}
