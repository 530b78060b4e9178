package formattest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// BidSchema is that of Nexmark's bids.
func BidSchema() *types.Schema {
	f := func(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }
	return types.NewSchema(
		f("auction", types.Of(types.BigInt)), f("bidder", types.Of(types.BigInt)), f("price", types.Of(types.BigInt)),
		f("channel", types.StringType()), f("url", types.StringType()),
		f("dateTime", types.TimeOf(types.Timestamp, 3)), f("extra", types.StringType()))
}

// BidLines returns n bids, each printed by the given format: auction, bidder,
// price, channel, url, dateTime, extra.
func BidLines(n int, format string) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + r.IntN(26))
		}
		return string(b)
	}
	at := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	var out []byte
	for range n {
		at = at.Add(time.Duration(r.IntN(10)) * time.Millisecond)
		url := fmt.Sprintf("https://www.nexmark.com/%s/%s/%s/item.htm?query=1&channel_id=%d", word(5), word(5), word(5), r.IntN(1<<30))
		out = fmt.Appendf(out, format, 1000+r.IntN(100000), 1000+r.IntN(100000), 100+r.IntN(10_000_000),
			[...]string{"Google", "Facebook", "Baidu", "Apple", "channel-" + fmt.Sprint(r.IntN(10000))}[r.IntN(5)],
			url, at.Format("2006-01-02 15:04:05.000"), word(20+r.IntN(20)))
	}
	return out
}

// Room returns an empty batch with room for n rows whose texts take size bytes
// in all, as a source makes it that knows how large its last chunk was.
func Room(s *types.Schema, n, size int) *batch.Batch {
	b := batch.NewBatch(s, n)
	for i, v := range b.Cols {
		if _, ok := v.(*batch.Bytes); ok {
			b.Cols[i] = batch.NewBytes(v.Type(), n, size/4)
		}
	}
	return b
}
