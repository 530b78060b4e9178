package gen

// Type is what a column holds.
type Type uint8

const (
	Int    Type = iota // BIGINT
	Time               // TIMESTAMP(3), as ms since 1970-01-01 UTC
	String             // STRING, in ASCII
)

// Column is a column of one kind of event.
type Column uint8

const (
	PersonID Column = iota
	PersonName
	PersonEmail
	PersonCard
	PersonCity
	PersonState
	PersonTime
	PersonExtra

	AuctionID
	AuctionItem
	AuctionDescription
	AuctionInitialBid
	AuctionReserve
	AuctionTime
	AuctionExpires
	AuctionSeller
	AuctionCategory
	AuctionExtra

	BidAuction
	BidBidder
	BidPrice
	BidChannel
	BidURL
	BidTime
	BidExtra

	columnCount
)

var columns = [columnCount]struct {
	name string
	kind Kind
	typ  Type
}{
	PersonID:    {"id", Person, Int},
	PersonName:  {"name", Person, String},
	PersonEmail: {"emailAddress", Person, String},
	PersonCard:  {"creditCard", Person, String},
	PersonCity:  {"city", Person, String},
	PersonState: {"state", Person, String},
	PersonTime:  {"dateTime", Person, Time},
	PersonExtra: {"extra", Person, String},

	AuctionID:          {"id", Auction, Int},
	AuctionItem:        {"itemName", Auction, String},
	AuctionDescription: {"description", Auction, String},
	AuctionInitialBid:  {"initialBid", Auction, Int},
	AuctionReserve:     {"reserve", Auction, Int},
	AuctionTime:        {"dateTime", Auction, Time},
	AuctionExpires:     {"expires", Auction, Time},
	AuctionSeller:      {"seller", Auction, Int},
	AuctionCategory:    {"category", Auction, Int},
	AuctionExtra:       {"extra", Auction, String},

	BidAuction: {"auction", Bid, Int},
	BidBidder:  {"bidder", Bid, Int},
	BidPrice:   {"price", Bid, Int},
	BidChannel: {"channel", Bid, String},
	BidURL:     {"url", Bid, String},
	BidTime:    {"dateTime", Bid, Time},
	BidExtra:   {"extra", Bid, String},
}

// Name is the column's name in the table.
func (c Column) Name() string { return columns[c].name }

// Kind is the kind of event that has the column.
func (c Column) Kind() Kind { return columns[c].kind }

// Type is what the column holds.
func (c Column) Type() Type { return columns[c].typ }

// columnsOf are the columns of each kind in the order of the table.
var columnsOf = func() (of [Kinds][]Column) {
	for c := range columnCount {
		of[c.Kind()] = append(of[c.Kind()], c)
	}
	return of
}()

// Columns are the columns of one kind in the order of the table, not to be changed.
func Columns(k Kind) []Column { return columnsOf[k] }

// Name is that of the kind's column in the table.
func (k Kind) Name() string { return [Kinds]string{"person", "auction", "bid"}[k] }

const (
	firstID       = 1000
	hot           = 100  // one of so many people or auctions is a hot one
	activePeople  = 1000 // the newest so many people act
	inFlight      = 100  // the newest so many auctions, about, are open
	lead          = 10   // a few ids are drawn before their owner comes
	categories    = 5
	firstCategory = 10
)

// coldPerson is one of the newest people, or of the next few.
func coldPerson(epoch, r uint64) uint64 {
	active := min(epoch+1, activePeople)
	return epoch + 1 - active + lo(r, active+lead)
}

// Ints sets dst[i] for each row of the column's kind and leaves the others alone. c is an Int or a Time.
func (b *Block) Ints(c Column, dst []int64) {
	dst = dst[:len(b.n)]
	rows := b.rows[c.Kind()]
	switch c {
	case PersonID:
		for _, i := range rows {
			dst[i] = firstID + b.n[i]/epochLen
		}
	case AuctionID:
		for _, i := range rows {
			dst[i] = firstID + b.n[i]/epochLen*auctionsPerEpoch + b.n[i]%epochLen - 1
		}
	case AuctionInitialBid:
		for _, i := range rows {
			dst[i] = price(slot(b.key[i], 4))
		}
	case AuctionReserve:
		for _, i := range rows {
			dst[i] = price(slot(b.key[i], 4)) + price(slot(b.key[i], 5))
		}
	case AuctionSeller:
		b.people(dst, rows, 1, 0)
	case AuctionCategory:
		for _, i := range rows {
			dst[i] = firstCategory + int64(hi(slot(b.key[i], 2), categories))
		}
	case AuctionExpires:
		times := b.Times()
		for _, i := range rows {
			dst[i] = times[i] + 1 + int64(hi(slot(b.key[i], 3), b.g.horizon))
		}
	case BidAuction:
		b.bidAuctions(dst, rows)
	case BidBidder:
		b.people(dst, rows, 2, 1)
	case BidPrice:
		for _, i := range rows {
			dst[i] = price(slot(b.key[i], 3))
		}
	case PersonTime, AuctionTime, BidTime:
		times := b.Times()
		for _, i := range rows {
			dst[i] = times[i]
		}
	default:
		panic("gen: column " + c.Kind().Name() + "." + c.Name() + " holds no integers")
	}
}

// people draws those who sell or bid: mostly a hot one, that of the newest hundred with number first.
func (b *Block) people(dst []int64, rows []int32, slotNumber, first uint64) {
	for _, i := range rows {
		epoch := uint64(b.n[i]) / epochLen
		r := slot(b.key[i], slotNumber)
		id := coldPerson(epoch, r)
		if hi(r, 4) > 0 {
			id = epoch/hot*hot + first
		}
		dst[i] = firstID + int64(id)
	}
}

func (b *Block) bidAuctions(dst []int64, rows []int32) {
	for _, i := range rows {
		newest := uint64(b.n[i])/epochLen*auctionsPerEpoch + auctionsPerEpoch - 1
		r := slot(b.key[i], 1)
		oldest := newest - min(newest, inFlight)
		id := oldest + lo(r, newest-oldest+1+lead)
		if hi(r, 2) > 0 {
			id = newest / hot * hot
		}
		dst[i] = firstID + int64(id)
	}
}
