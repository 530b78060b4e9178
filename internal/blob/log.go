package blob

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// Log is a sequence of records in a store, of which the last one counts. Whoever
// appends a record must have seen the one before: of several processes that use
// a log at once, whatever machine they are on, only the one that appended last can
// go on, and the others are told so.
type Log struct {
	store Store
	// tail is the number of the last record, 0 if there is none. Records are
	// removed when others are behind them.
	tail int64
	// tried is set once the store has shown that it keeps the contract of Create.
	tried bool
}

var (
	// ErrFenced says that another process has appended to the log.
	ErrFenced = errors.New("another process has taken over")
	// ErrNoCondition says that a store gives a name to two who Create it.
	ErrNoCondition = errors.New("the store ignores If-None-Match, so that two processes could write over each other's checkpoints; use a store that has conditional writes")
)

// OpenLog returns the log of a directory and its last record; nil if it is empty.
func OpenLog(ctx context.Context, store Store) (*Log, []byte, error) {
	l := &Log{store: store}
	last, err := l.Refresh(ctx)
	return l, last, err
}

func recordName(n int64) string { return fmt.Sprintf("%016d", n) }

// Where says where the last record is.
func (l *Log) Where() string { return l.store.Where(recordName(l.tail)) }

// Refresh reads the last record again, whoever has written it.
func (l *Log) Refresh(ctx context.Context) ([]byte, error) {
	for {
		numbers, err := l.numbers(ctx)
		if err != nil {
			return nil, err
		}
		if len(numbers) == 0 {
			l.tail = 0
			return nil, nil
		}
		l.tail = numbers[len(numbers)-1]
		data, err := l.store.Get(ctx, recordName(l.tail))
		if !errors.Is(err, ErrNotExist) {
			return data, err
		}
	}
}

// numbers are those of the records, ascending.
func (l *Log) numbers(ctx context.Context) ([]int64, error) {
	infos, err := l.store.List(ctx, "")
	var out []int64
	for _, i := range infos {
		if n, err := strconv.ParseInt(i.Name, 10, 64); err == nil && recordName(n) == i.Name {
			out = append(out, n)
		}
	}
	return out, err
}

// Append adds a record, which must differ from those of all others. After
// ErrFenced the caller must not act on it; another one may, who has read it in
// the meantime. After other errors nobody knows yet whether it was added.
func (l *Log) Append(ctx context.Context, record []byte) error {
	next := l.tail + 1
	err := l.store.Create(ctx, recordName(next), record)
	if errors.Is(err, ErrExist) {
		return ErrFenced
	}
	if err != nil {
		return err
	}
	// The name was free, perhaps because others are far ahead and have removed
	// what had it.
	numbers, err := l.numbers(ctx)
	if err != nil {
		return err
	}
	if len(numbers) == 0 || numbers[len(numbers)-1] != next {
		return errors.Join(ErrFenced, l.store.Remove(ctx, recordName(next)))
	}
	if err := l.try(ctx, next, record); err != nil {
		return err
	}
	l.tail = next
	for _, n := range numbers[:len(numbers)-1] {
		// They are in nobody's way; the next one tries again.
		_ = l.store.Remove(ctx, recordName(n))
	}
	return nil
}

// try finds out once whether the store keeps the contract of Create, which some
// do not know: a record that was just made must not be made again.
func (l *Log) try(ctx context.Context, n int64, record []byte) error {
	if l.tried {
		return nil
	}
	err := l.store.Create(ctx, recordName(n), append([]byte("?"), record...))
	if errors.Is(err, ErrExist) {
		l.tried = true
		return nil
	}
	if err != nil {
		return err
	}
	numbers, err := l.numbers(ctx)
	if err != nil {
		return err
	}
	if numbers[len(numbers)-1] != n {
		// Somebody has appended, and removed the record meanwhile.
		return l.store.Remove(ctx, recordName(n))
	}
	return ErrNoCondition
}
