package gen

import (
	"strconv"
	"sync"
)

// The tables below are the same for every seed. They take some milliseconds, so each is made when a first column
// needs it.

const (
	poolLen    = 1 << 18
	channels   = 10_000 // ordinary ones; the busy ones follow
	lettersKey = 0x6C65747465727301
	textKey    = 0x7465787400000002
	channelKey = 0x6368616E6E656C03
)

var (
	firstNames = [...]string{"Ada", "Boris", "Chen", "Dalia", "Emeka", "Farah", "Greta", "Hiro", "Ines", "Jonas", "Kavya"}
	lastNames  = [...]string{"Almeida", "Brandt", "Castillo", "Dubois", "Eriksen", "Fontana", "Grigoryan", "Haddad", "Ivanova"}
	cities     = [...]string{"Tucson", "Fresno", "Oakland", "Nampa", "Salem", "Eugene", "Spokane", "Tacoma", "Yakima", "Laramie"}
	states     = [...]string{"AZ", "CA", "ID", "OR", "WA", "WY"}
	busy       = [...]string{"Google", "Facebook", "Baidu", "Apple"}
)

// letterPool is what all words are cut from.
var letterPool = sync.OnceValue(func() []byte {
	pool := make([]byte, poolLen)
	for i := range pool {
		pool[i] = 'a' + byte(hi(draw(lettersKey, uint64(i), 0), 26))
	}
	return pool
})

// textPool is the same with spaces, for names and descriptions.
var textPool = sync.OnceValue(func() []byte {
	pool := make([]byte, poolLen)
	for i := range pool {
		r := draw(textKey, uint64(i), 0)
		pool[i] = 'a' + byte(lo(r, 26))
		if hi(r, 13) == 0 {
			pool[i] = ' '
		}
	}
	return pool
})

// piece cuts min to min+span-1 bytes out of a pool, as r says.
func piece(pool []byte, r, min, span uint64) []byte {
	n := min + hi(r, span)
	from := lo(r, poolLen-n)
	return pool[from : from+n]
}

// A strings table holds many short strings in one piece of memory.
type stringTable struct {
	ends []int32
	data []byte
}

func (t *stringTable) add(s []byte) {
	t.data = append(t.data, s...)
	t.ends = append(t.ends, int32(len(t.data)))
}

func (t *stringTable) at(i uint64) []byte {
	return t.data[t.ends[i]:t.ends[i+1]]
}

// channelNames are the names of all channels by number.
var channelNames = sync.OnceValue(func() *stringTable {
	t := &stringTable{ends: []int32{0}}
	for c := range channels {
		t.add(strconv.AppendInt([]byte("channel-"), int64(c), 10))
	}
	for _, name := range busy {
		t.add([]byte(name))
	}
	return t
})

// channelURLs are the addresses of all channels by number.
var channelURLs = sync.OnceValue(func() *stringTable {
	pool := letterPool()
	t := &stringTable{ends: []int32{0}}
	var url []byte
	for c := range uint64(channels + len(busy)) {
		k := indexKey(channelKey, c)
		url = append(url[:0], "https://www.nexmark.example"...)
		for i := range uint64(3) {
			url = append(url, '/')
			url = append(url, piece(pool, slot(k, i), 3, 2)...)
		}
		url = append(url, "/item.htm?query=1"...)
		if c < channels && hi(slot(k, 3), 10) > 0 {
			url = append(url, "&channel_id="...)
			url = strconv.AppendUint(url, slot(k, 4)>>33, 10)
		}
		t.add(url)
	}
	return t
})
