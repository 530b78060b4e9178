package lsm_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millstream-io/millstream/internal/state/lsm"
)

// entry is an entry of a map, model all of them in order.
type (
	entry struct{ key, value string }
	model []entry
)

// end is behind all keys of the tests.
const end = "\xff"

func (m model) find(key string) (int, bool) {
	return slices.BinarySearchFunc(m, key, func(e entry, key string) int { return cmp.Compare(e.key, key) })
}

func (m model) get(key string) (string, bool) {
	i, ok := m.find(key)
	if !ok {
		return "", false
	}
	return m[i].value, true
}

// within are the entries in [from, to).
func (m model) within(from, to string) model {
	i, _ := m.find(from)
	j, _ := m.find(to)
	return m[i:max(i, j)]
}

// without leaves out the entries in [from, to).
func (m model) without(from, to string) model {
	return slices.DeleteFunc(slices.Clone(m), func(e entry) bool { return from <= e.key && e.key < to })
}

// op is a write.
type op struct {
	kind         opKind
	key, to, val string
	n            int64
}

type opKind byte

const (
	set opKind = iota
	remove
	removeRange
	add
)

// after is the map behind some writes; m stays as it is.
func (m model) after(ops []op) model {
	m = slices.Clone(m)
	for _, o := range ops {
		i, ok := m.find(o.key)
		switch {
		case o.kind == removeRange:
			j, _ := m.find(o.to)
			m = slices.Delete(m, i, max(i, j))
		case o.kind == remove && ok:
			m = slices.Delete(m, i, i+1)
		case o.kind == remove:
		case ok:
			m[i].value = o.put(m[i].value, true)
		default:
			m = slices.Insert(m, i, entry{o.key, o.put("", false)})
		}
	}
	return m
}

// put is the value of a key after a Set or an Add.
func (o op) put(old string, ok bool) string {
	if o.kind == set {
		return o.val
	}
	n := int64(0)
	if ok {
		var err error
		if n, err = lsm.Count([]byte(old)); err != nil {
			panic(fmt.Sprintf("the test adds to %q, which is no count", old))
		}
	}
	return count(n + o.n)
}

func count(n int64) string { return string(lsm.AppendCount(nil, n)) }

// commit makes writes in a batch. The bytes that it is given are its own only until
// a call returns.
func commit(db *lsm.DB, ops []op, rnd *rand.Rand) error {
	b := db.NewBatch()
	if n := rnd.IntN(4); n > 0 { // sizes that are right or not
		b = db.NewBatchOf(rnd.IntN(n*len(ops)+1), rnd.IntN(1<<(4*n)))
	}
	var key, value []byte
	size, least := b.Size(), 0
	for _, o := range ops {
		key, value = append(key[:0], o.key...), append(value[:0], o.val...)
		least += len(key) + len(value)
		switch o.kind {
		case set:
			b.Set(key, value)
		case remove:
			b.Delete(key)
		case removeRange:
			value = append(value[:0], o.to...)
			b.DeleteRange(key, value)
			if o.key >= o.to {
				least -= len(o.key) + len(o.val) // nothing is removed
			}
		case add:
			b.Add(key, o.n)
		}
		scribble(key)
		scribble(value)
	}
	if got := b.Size() - size; got < least {
		return fmt.Errorf("a batch with %d bytes of keys and values has a size of %d", least, got)
	}
	return b.Commit()
}

func scribble(buf []byte) {
	for i := range buf {
		buf[i] ^= 0xa5
	}
}

// gen makes writes.
type gen struct{ rnd *rand.Rand }

func newGen(seed ...uint64) gen {
	return gen{rand.New(rand.NewPCG(seed[0], uint64(len(seed))<<32+seed[len(seed)-1]))}
}

func (g gen) one(percent int) bool { return g.rnd.IntN(100) < percent }

func pick[T any](g gen, list ...T) T { return list[g.rnd.IntN(len(list))] }

// prefix is what the keys of a namespace of a table begin with, in a key group.
func (g gen) prefix() string {
	buf := []byte{pick(g, byte(0), 1, 1, 1, 64, 127, 128)}
	buf = binary.BigEndian.AppendUint16(buf, pick(g, uint16(1), 1, 2, 0x0100, 0xffff))
	ns := pick(g, int64(0), 0, 0, 1, 10, -1, math.MinInt64, math.MaxInt64)
	return string(binary.BigEndian.AppendUint64(buf, uint64(ns)^1<<63))
}

// countOf is the key of the count of a namespace.
func countOf(prefix string) string { return prefix[:1] + "\x00\x00" + prefix[1:] }

var common = strings.Repeat("the same bytes that many keys have ", 20)

// user is the rest of a key.
func (g gen) user() string {
	number := string(binary.BigEndian.AppendUint32(nil, uint32(g.rnd.IntN(400))))
	switch g.rnd.IntN(12) {
	case 0:
		return ""
	case 1, 2, 3:
		return g.text("\x00\x01a\xff", g.rnd.IntN(5))
	case 4:
		return common + number
	case 5:
		return number + g.text("\x00\xff", 4)
	case 6:
		if g.one(5) {
			return common + strings.Repeat("long ", g.rnd.IntN(3000)) + number
		}
	}
	return number
}

func (g gen) text(alphabet string, n int) string {
	buf := make([]byte, n)
	for i := range buf {
		buf[i] = alphabet[g.rnd.IntN(len(alphabet))]
	}
	return string(buf)
}

func (g gen) value() string {
	switch n := g.rnd.IntN(1000); {
	case n < 150:
		return ""
	case n < 900:
		return g.bytes(1 + g.rnd.IntN(30))
	case n < 990:
		return g.bytes(g.rnd.IntN(1000))
	case n < 998:
		return g.bytes(g.rnd.IntN(20_000))
	}
	return g.bytes(100_000)
}

// bytes is a value of which a part repeats itself.
func (g gen) bytes(n int) string {
	buf := make([]byte, n)
	for i := range buf[:g.rnd.IntN(n+1)] {
		buf[i] = byte(g.rnd.Uint32())
	}
	return string(buf)
}

func (g gen) number() int64 {
	if g.one(3) {
		return pick(g, int64(0), math.MaxInt64, math.MinInt64, 1<<40)
	}
	return int64(g.rnd.IntN(200) - 80)
}

// key is a key of a row, mostly one of the map or next to it.
func (g gen) key(m model) string {
	if len(m) == 0 || g.one(30) {
		return g.prefix() + g.user()
	}
	key := m[g.rnd.IntN(len(m))].key
	switch {
	case len(key) < 4 || key[1:3] == "\x00\x00":
		return g.prefix() + g.user()
	case g.one(10):
		return key + g.text("\x00\x01a\xff", 1+g.rnd.IntN(4))
	case g.one(5) && len(key) > 12:
		return key[:len(key)-1]
	}
	return key
}

// bound is a bound of a range.
func (g gen) bound(m model) string {
	key := g.key(m)
	switch g.rnd.IntN(8) {
	case 0:
		return key[:g.rnd.IntN(len(key)+1)]
	case 1:
		return key + "\x00"
	case 2:
		return after(key[:1+g.rnd.IntN(len(key))])
	case 3:
		return countOf(g.prefix())
	}
	return key
}

// after is the first string behind all that begin with prefix.
func after(prefix string) string {
	buf := []byte(prefix)
	for i := len(buf) - 1; i >= 0; i-- {
		if buf[i]++; buf[i] != 0 {
			return string(buf[:i+1])
		}
	}
	return end
}

// bounds are those of a range, which is seldom empty.
func (g gen) bounds(m model) (from, to string) {
	from, to = g.bound(m), g.bound(m)
	if from > to && !g.one(3) {
		from, to = to, from
	}
	return from, to
}

// near are bounds with few entries between them.
func (g gen) near(m model) (from, to string) {
	if len(m) == 0 {
		return g.bounds(m)
	}
	i := g.rnd.IntN(len(m))
	j := min(len(m)-1, i+g.rnd.IntN(30))
	from, to = m[i].key, m[j].key
	if g.one(30) {
		from += "\x00"
	}
	if g.one(30) {
		to += "\x00"
	}
	return from, to
}

// mixed are some writes of all kinds.
func (g gen) mixed(m model, n int) []op {
	var ops []op
	for range n {
		p := g.prefix()
		switch k := g.rnd.IntN(100); {
		case k < 40:
			ops = append(ops, op{kind: set, key: g.key(m), val: g.value()})
		case k < 60:
			ops = append(ops, op{kind: remove, key: g.key(m)})
		case k < 80:
			ops = append(ops, op{kind: add, key: countOf(p), n: g.number()})
		case k < 84:
			ops = append(ops, op{kind: set, key: countOf(p), val: count(g.number())})
		case k < 88:
			ops = append(ops, op{kind: remove, key: countOf(p)})
		case k < 98:
			from, to := g.near(m)
			ops = append(ops, op{kind: removeRange, key: from, to: to})
		case k < 99:
			ops = append(ops, op{kind: removeRange, key: countOf(p), to: countOf(p) + "\x00"})
		default:
			ops = append(ops, g.turns(m)...)
		}
	}
	return ops
}

// turns writes the same few keys again and again, where the order counts.
func (g gen) turns(m model) []op {
	p := g.prefix()
	keys := []string{g.key(m), g.key(m), p, p + "\x00"}
	slices.Sort(keys)
	var ops []op
	for range 2 + g.rnd.IntN(10) {
		switch g.rnd.IntN(6) {
		case 0:
			ops = append(ops, op{kind: removeRange, key: keys[0], to: keys[3] + "\x00"})
		case 1:
			ops = append(ops, op{kind: removeRange, key: p[:1], to: after(p[:1])})
		case 2:
			ops = append(ops, op{kind: remove, key: pick(g, keys...)}, op{kind: remove, key: countOf(p)})
		case 3, 4:
			ops = append(ops, op{kind: add, key: countOf(p), n: g.number()})
		default:
			ops = append(ops, op{kind: set, key: pick(g, keys...), val: g.value()})
		}
	}
	return ops
}

// rows are writes as they are when rows leave memory: sorted, with their numbers.
func (g gen) rows(n int) []op {
	rows := map[string][]string{}
	p := g.prefix()
	for i := range n {
		if i%200 == 199 {
			p = g.prefix()
		}
		rows[p] = append(rows[p], p+g.user())
	}
	var ops []op
	for _, p := range slices.Sorted(maps.Keys(rows)) {
		keys := rows[p]
		slices.Sort(keys)
		for _, key := range keys {
			ops = append(ops, op{kind: set, key: key, val: g.value()})
		}
		ops = append(ops, op{kind: add, key: countOf(p), n: int64(len(keys))})
	}
	slices.SortStableFunc(ops, func(a, b op) int { return cmp.Compare(a.key, b.key) })
	return ops
}

// graves are writes as they are when rows are dropped.
func (g gen) graves(m model) []op {
	var ops []op
	for range 1 + g.rnd.IntN(3) {
		p := g.prefix()
		for _, e := range m.within(p, after(p)) {
			if g.one(5) {
				ops = append(ops, op{kind: remove, key: e.key}, op{kind: add, key: countOf(p), n: -1})
			}
		}
		if g.one(60) {
			ops = append(ops, op{kind: removeRange, key: p, to: after(p)}, op{kind: remove, key: countOf(p)})
		}
	}
	if len(m) > 4000 {
		from, to := g.bounds(m)
		ops = append(ops, op{kind: removeRange, key: from, to: to})
	}
	return ops
}

// batch are writes of some kind.
func (g gen) batch(m model) []op {
	switch k := g.rnd.IntN(100); {
	case k < 2:
		return nil
	case k < 50:
		return g.mixed(m, 1+g.rnd.IntN(8))
	case k < 65:
		return g.mixed(m, 20+g.rnd.IntN(150))
	case k < 70:
		return g.turns(m)
	case k < 86 || len(m) < 100:
		return g.rows(1 + g.rnd.IntN(600))
	case k < 88:
		return g.rows(3000)
	}
	return g.graves(m)
}

// small cuts off what is long.
func small(ops []op) []op {
	for i, o := range ops {
		ops[i].key, ops[i].val = o.key[:min(len(o.key), 1000)], o.val[:min(len(o.val), 300)]
	}
	return ops
}

// errStop is an error of who reads.
var errStop = errors.New("enough")

// checkRange reads [from, to) and compares, forward or back, up to so many entries.
func checkRange(r *lsm.Reader, m model, from, to string, back bool, most int) error {
	want := m.within(from, to)
	read, what := r.Range, "Range"
	if back {
		read, what = r.RangeBack, "RangeBack"
		want = slices.Clone(want)
		slices.Reverse(want)
	}
	at, stopped := 0, false
	var wrong error
	err := read(bound(from), bound(to), func(key, value []byte) (bool, error) {
		switch {
		case stopped:
			wrong = errors.New("goes on after it was told to stop")
		case at >= len(want):
			wrong = fmt.Errorf("has %s, want no more", show(string(key), string(value)))
		case string(key) != want[at].key || string(value) != want[at].value:
			wrong = fmt.Errorf("has %s, want %s", show(string(key), string(value)), show(want[at].key, want[at].value))
		}
		at++
		if stopped = wrong != nil || at == most; stopped && most%2 == 1 {
			return true, errStop
		}
		return !stopped, nil
	})
	switch {
	case wrong != nil:
	case stopped && most%2 == 1 && errors.Is(err, errStop):
		return nil
	case err != nil:
		return err
	case !stopped && at < len(want):
		wrong = fmt.Errorf("ends before %s", show(want[at].key, want[at].value))
	default:
		return nil
	}
	return fmt.Errorf("%s(%s, %s): entry %d of %d: %w", what, show(from, ""), show(to, ""), at, len(want), &mismatch{wrong})
}

// bound is nil for the empty key, as for who reads from the beginning on.
func bound(key string) []byte {
	if key == "" {
		return nil
	}
	return []byte(key)
}

// mismatch is an error of contents.
type mismatch struct{ error }

// show shortens a key and a value.
func show(key, value string) string {
	short := func(s string) string {
		if len(s) > 40 {
			return fmt.Sprintf("%x..%x (%d bytes)", s[:24], s[len(s)-8:], len(s))
		}
		return fmt.Sprintf("%x", s)
	}
	return short(key) + "=" + short(value)
}

func checkGet(r *lsm.Reader, m model, key string) error {
	want, has := m.get(key)
	buf := []byte(key)
	value, ok, err := r.Get(buf)
	if err != nil {
		return err
	}
	if ok != has || string(value) != want {
		return fmt.Errorf("Get: %w", &mismatch{fmt.Errorf("%s (there: %v), want %s (there: %v)", show(key, string(value)), ok, show(key, want), has)})
	}
	if !bytes.Equal(buf, []byte(key)) {
		return &mismatch{errors.New("Get has changed the key that it was given")}
	}
	return nil
}

// checkSome reads here and there.
func checkSome(r *lsm.Reader, m model, g gen, n int) error {
	for range n {
		var err error
		switch g.rnd.IntN(8) {
		case 0:
			from, to := g.bounds(m)
			err = checkRange(r, m, from, to, g.one(50), 1+g.rnd.IntN(50))
		case 1:
			from, to := g.bounds(m)
			err = checkRange(r, m, from, to, g.one(50), -1)
		case 2, 3:
			from, to := g.near(m)
			err = checkRange(r, m, from, to, g.one(50), -1)
		case 4:
			err = checkGet(r, m, countOf(g.prefix()))
		case 5:
			for _, e := range m.within(g.near(m)) {
				err = errors.Join(err, checkGet(r, m, e.key), checkGet(r, m, e.key+"\x00"))
			}
		default:
			err = checkGet(r, m, g.key(m))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkAll reads all, with Get of one key of so many.
func checkAll(r *lsm.Reader, m model, each int) error {
	if err := checkRange(r, m, "", end, false, -1); err != nil {
		return err
	}
	for i := 0; i < len(m); i += each {
		if err := checkGet(r, m, m[i].key); err != nil {
			return err
		}
	}
	return checkRange(r, m, "", end, true, -1)
}

// checkDB is checkAll of what is there now.
func checkDB(db *lsm.DB, m model, each int) error {
	r, err := db.NewReader()
	if err != nil {
		return err
	}
	err = checkAll(r, m, each)
	return errors.Join(err, r.Close())
}

// trials is a number of trials, times MILLSTREAM_LSM; few of them in short tests.
func trials(t *testing.T, n int) int {
	t.Helper()
	if v := os.Getenv("MILLSTREAM_LSM"); v != "" {
		times, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("MILLSTREAM_LSM: %v", err)
		}
		return n * times
	}
	if testing.Short() {
		return max(1, n/5)
	}
	return n
}

// guard ends the process if something hangs; call the result when it has not.
func guard(what string) (done func()) {
	timer := time.AfterFunc(time.Minute, func() {
		debug.SetTraceback("all")
		panic(what + " hangs")
	})
	return func() { timer.Stop() }
}
