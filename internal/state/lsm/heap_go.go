//go:build !cgo

package lsm

// OffHeap says that blocks and memtables are not on Go's heap: with cgo, Pebble
// takes their memory from C.
const OffHeap = false
