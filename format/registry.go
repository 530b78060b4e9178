package format

import (
	"fmt"
	"sort"
	"sync"
)

var registry = struct {
	sync.RWMutex
	defs map[string]*Def
}{defs: map[string]*Def{}}

// Register makes a format known under its name. Each format's package calls it
// from init; a program has the formats whose packages it imports. It panics
// for a second format of the same name.
func Register(d *Def) {
	registry.Lock()
	defer registry.Unlock()
	if d.Name == "" || registry.defs[d.Name] != nil {
		panic(fmt.Sprintf("format: %q cannot be registered: no name, or it is taken", d.Name))
	}
	registry.defs[d.Name] = d
}

// Lookup returns the format of that exact name, or nil.
func Lookup(name string) *Def {
	registry.RLock()
	defer registry.RUnlock()
	return registry.defs[name]
}

// All returns the known formats, ordered by name.
func All() []*Def {
	registry.RLock()
	defer registry.RUnlock()
	out := make([]*Def, 0, len(registry.defs))
	for _, d := range registry.defs {
		out = append(out, d)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
