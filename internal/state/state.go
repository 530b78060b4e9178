// Package state is the keyed store of an operator: tables whose rows are
// addressed by batches of keys, kept in memory, written behind to an LSM tree
// on disk, and saved by the runtime at barriers without the operator's help.
//
// A table is split in namespaces (the end of a window, say; 0 where there is
// but one), and in key groups, by which it is spread over tasks. A row that was
// made and removed between two checkpoints never reaches the disk; a namespace
// is dropped as a whole.
//
// Rows may leave memory between two events of the operator, never during one:
// slots are good until the operator's current event is over.
package state

import (
	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/types"
)

// MaxParallelism is the number of key groups (pipeline.max-parallelism).
const MaxParallelism = batch.KeyGroups

// Store holds the tables of one operator instance. It is used on the task's
// goroutine only.
type Store interface {
	// Table declares a table, in Open. The same declaration must be made at
	// each start; a table restored with another spec is an error that names
	// both.
	Table(spec Spec) (Table, error)
}

// Spec declares a table.
type Spec struct {
	// Name is unique within the operator.
	Name string
	// Key are the types of the key columns; none for a table with one row a
	// namespace.
	Key []types.Type
	// Value are the types of the value columns. A new row's values are null
	// where the type is nullable, and zero elsewhere.
	Value []types.Type
	// Columns are the names of the key columns and then of the value columns, for
	// people who look at the state; none, or one for each.
	Columns []string
	// ByName says that the values are columns of rows that are passed on. If the
	// query has changed, saved values belong to the columns of the same names; a
	// column that is new is NULL in saved rows, one that is gone is left out.
	// Otherwise values go by position, and there must be as many as before. Either
	// way a wider type takes the values of a narrower one (Widens).
	ByName bool
	// Order is the number of trailing key columns by which the rows of a
	// namespace with equal leading columns, the prefix, are ordered; 0 means that
	// the table has no order. The order is that of batch.AppendKey: NULL first,
	// NaN last. The prefix must decide the key group.
	Order int
	// TTL is the time to live of a row in ms of processing time, counted from when
	// it was last written (made, or told to Dirty); 0 means that rows stay. A row
	// that has expired is as if it were not there, but that Len may count it.
	TTL int64
	// ByTask is set for tables that are not keyed by the stream's key: each
	// instance has its own rows, which all go to instance 0 when the
	// parallelism changes.
	ByTask bool
	// Merge makes the table mergeable: rows may be written without being looked
	// for on disk, and a key may have several rows there, its partials. Merge
	// folds the values of each slot from[i] into those of into[i], of which the
	// rows came earlier; vals are the value columns. The slots in into are
	// distinct.
	//
	// In such a table Upsert reads nothing: a row that it calls new may be one of
	// several of its key. Lookup, Scan and Drain merge them, and give each key
	// once. Only rows that they gave may be deleted, and a batch of keys that must
	// have all of their rows is looked up before Upsert. Len counts each partial.
	Merge func(vals []batch.Column, into, from []int32) error
}

// Table is a keyed table.
type Table interface {
	// Space returns namespace ns, which need not have rows. The result is
	// good until the end of the event.
	Space(ns int64) Space
	// Namespaces returns the namespaces that have rows and are <= upTo, in
	// ascending order, those on disk included.
	Namespaces(upTo int64) ([]int64, error)
	// First returns the smallest namespace that has rows.
	First() (ns int64, ok bool, err error)
	// Drop removes all rows of a namespace. A Space of it is void.
	Drop(ns int64) error
}

// Space is one namespace of a table. Cols, Keys and Dirty take the slots of the
// whole table, so what lies in several namespaces can be worked on at once.
type Space interface {
	// Upsert finds or makes the rows of the given keys and writes their slots
	// to slots (len(k.Rows) of them). It returns the indexes into slots of the
	// rows that are new, each once, in order of first appearance; that list is
	// good until the table's next Upsert. Rows that are on disk are brought
	// back in one sorted batch.
	Upsert(k *Keys, slots []int32) (fresh []int32, err error)
	// Lookup is Upsert without making rows: the slot of a missing row is -1.
	Lookup(k *Keys, slots []int32) error
	// Cols returns the value columns; they are written in place, by slot, and
	// Dirty must be told. The result is good until the next Upsert or Lookup.
	Cols() []batch.Column
	// Dirty says that the rows at slots were changed. (Upsert says so itself
	// for the rows that it makes.)
	Dirty(slots []int32)
	// Delete removes rows. Their slots must not be used again in this event.
	Delete(slots []int32)
	// Scan calls f with the slots of all rows, at most max at a time, those on
	// disk included. f may change and delete the rows it is given; it must not
	// Upsert into this space nor Lookup in it. Rows of an ordered table come by
	// key group, then in the order of all key columns; those of others come in any
	// order.
	Scan(max int, f func(slots []int32) error) error
	// Range calls f with rows of an ordered table, those on disk included: with
	// their slots, and for each the index into q.Prefix.Rows of its prefix, at most
	// max at a time. They come prefix by prefix, in the order asked for. f may
	// change and delete the rows it is given, which are good until it returns; it
	// must not Upsert into this space nor look into it.
	Range(q *Ranges, max int, f func(of, slots []int32) error) error
	// DeleteRange removes the rows of an ordered table that are in any of the
	// ranges, without bringing them to memory. Limit and Reverse are not looked at.
	DeleteRange(q *Ranges) error
	// Drain is Scan for rows that are not needed any more: when f returns nil the
	// rows that it was given are gone. If it returns an error, Drain returns that,
	// and the rows of this call and those not seen stay; the next Drain goes on
	// with them. When no rows are left the namespace is dropped, and the Space
	// void. Tables with a time to live cannot be drained.
	//
	// f may change the rows it is given; it must not delete them, nor use this
	// space otherwise than by Cols and Keys.
	Drain(max int, f func(slots []int32) error) error
	// Keys returns the key columns of rows.
	Keys(slots []int32) []batch.Vector
	// Len returns the number of rows.
	Len() (int, error)
}

// Keys is a batch of keys: the rows Rows (physical positions) of the columns
// Cols. Hash has the hash of each position's key columns as batch.Hash gives
// it, by physical position.
//
// The key group is that of Group where it is set, otherwise of Hash. A table
// whose key has more columns than the stream's key (the values that COUNT
// DISTINCT has seen, say) sets Group to the hash of the stream's key columns,
// which decided the task that gets the row.
type Keys struct {
	Cols  []batch.Vector
	Hash  []uint64
	Group []uint64
	Rows  []int32
}

// Ranges asks an ordered table for rows: for each row of Prefix, which has the
// leading key columns with their hash, the rows with that prefix whose order
// columns lie between those of From and To.
//
// From and To have the values for each row of Prefix by the same physical
// position, for as many order columns as are to be compared; none means no
// bound. They are inclusive, unless FromOpen or ToOpen is set: then rows that
// begin with just these values are left out. The types must have the physical
// form of the table's.
type Ranges struct {
	Prefix           *Keys
	From, To         []batch.Vector
	FromOpen, ToOpen bool
	// Limit is the number of rows to give for each prefix; 0 means all. Reverse
	// gives the last rows first.
	Limit   int
	Reverse bool
}
