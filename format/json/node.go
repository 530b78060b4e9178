package json

import (
	"bytes"

	"github.com/millstream-io/millstream/batch"
	"github.com/millstream-io/millstream/internal/text/cell"
	"github.com/millstream-io/millstream/internal/text/jsontext"
	"github.com/millstream-io/millstream/types"
)

// node reads the values of one column, field, element or key: its type, and the
// vector that the values go to, which differs from call to call.
type node struct {
	op      cell.Op
	notNull bool
	// zulu says that timestamps have a Z behind them.
	zulu bool
	typ  types.Type
	// path names the value in errors: r.a, xs[], m{}.
	path string
	// mark is the object in which the field was last seen.
	mark uint32

	cell.Column
	// elem is the element of a list and the value of a map.
	elem *node
	obj  *object
}

// object reads the fields of a record or of a ROW.
type object struct {
	// fields are those that are wanted, byName all of them by their position
	// in fields, or -1.
	fields []*node
	names  []string
	byName map[string]int
	// script lists the keys in the order in which they are expected.
	script []step
	// current numbers the objects read, for the marks of the fields.
	current uint32
}

// step is a key as it stands in the text, `"name":`, and its field; nil if the
// value is not wanted.
type step struct {
	key   []byte
	field *node
}

// maxScript bounds the keys that an object remembers, for objects whose keys
// are never the same.
const maxScript = 256

// newObject makes an object that reads the fields in wanted, of all that it is
// known to have.
func newObject(all, wanted []types.Field, prefix string) *object {
	o := &object{byName: make(map[string]int, len(all))}
	full := make(map[string]types.Type, len(all))
	for _, f := range all {
		o.byName[f.Name] = -1
		full[f.Name] = f.Type
	}
	for i, f := range wanted {
		o.byName[f.Name] = i
		o.names = append(o.names, f.Name)
		o.fields = append(o.fields, newNode(full[f.Name], f.Type, prefix+f.Name))
	}
	for _, f := range all {
		key := jsontext.String(nil, []byte(f.Name))
		if bytes.IndexByte(key, '\\') < 0 {
			o.script = append(o.script, step{append(key, ':'), o.field(f.Name)})
		}
	}
	return o
}

func (o *object) field(name string) *node {
	if i := o.byName[name]; i >= 0 {
		return o.fields[i]
	}
	return nil
}

// newNode makes a node that reads values of type t. full is the type that the
// table declares, whose ROWs may have more fields.
func newNode(full, t types.Type, path string) *node {
	n := &node{op: cell.OpOf(t), notNull: !t.Nullable, zulu: t.Kind == types.TimestampLTZ, typ: t, path: path}
	switch t.Kind {
	case types.Array:
		n.elem = newNode(*full.Elem, *t.Elem, path+"[]")
	case types.Map:
		n.elem = newNode(*full.Elem, *t.Elem, path+"{}")
	case types.Multiset:
		count := types.Of(types.Int).NotNull()
		n.elem = newNode(count, count, path+"{}")
	case types.Row:
		n.obj = newObject(full.Fields, t.Fields, path+".")
	}
	return n
}

// bind makes v the vector that values go to.
func (n *node) bind(v batch.Vector) {
	n.Set(v)
	switch v := v.(type) {
	case *batch.List:
		n.elem.bind(v.Elem)
	case *batch.Map:
		n.elem.bind(v.Vals)
	case *batch.Row:
		for i, f := range n.obj.fields {
			f.bind(v.Cols[i])
		}
	}
}

// learn puts a key into the script at position i, so that the next object may
// find it there, and returns the position behind it.
func (o *object) learn(i int, key []byte, field *node) int {
	for j := i; j < len(o.script); j++ {
		if bytes.Equal(o.script[j].key, key) {
			return j + 1
		}
	}
	if len(o.script) >= maxScript {
		return i
	}
	o.script = append(o.script, step{})
	copy(o.script[i+1:], o.script[i:])
	o.script[i] = step{bytes.Clone(key), field}
	return i + 1
}
