package optest

import (
	"slices"
	"strings"

	"github.com/millstream-io/millstream/internal/sltfile"
	"github.com/millstream-io/millstream/internal/state"
	"github.com/millstream-io/millstream/internal/vfs"
)

// harm is a way to damage a file; nil removes it.
type harm struct {
	name string
	do   func(data []byte) []byte
}

var harms = []harm{
	{"flip", func(data []byte) []byte { data[len(data)/2] ^= 4; return data }},
	{"truncation", func(data []byte) []byte { return data[:len(data)/2] }},
	{"zeros", func(data []byte) []byte { clear(data[len(data)/3:]); return data }},
	{"removal", func([]byte) []byte { return nil }},
}

// withDamage damages each file of a snapshot in turn, and does the rest of the
// script from it: that has to give its answers, until the damage is found.
func (m *machine) withDamage(f *sltfile.File, next int) {
	m.t.Helper()
	s := m.snapshot()
	for _, part := range s.parts {
		for _, file := range part.Info.Files {
			path := part.Path(file)
			whole, err := vfs.ReadFile(m.fs, path)
			m.must(err)
			if len(whole) == 0 {
				continue
			}
			m.put(path, m.cfg.damage.do(slices.Clone(whole)))
			other := &machine{t: m.t, c: m.c, cfg: m.cfg, tasks: m.tasks, fs: m.fs, wm: s.wm, now: s.now, gen: 1000*m.gen + int64(next)}
			other.rest(f, next, s, path)
			m.put(path, whole)
		}
	}
	m.goBack(s)
}

// rest does the steps from next on, over a snapshot of which a file is damaged.
func (m *machine) rest(f *sltfile.File, next int, s saved, path string) {
	m.t.Helper()
	defer m.close()
	err := m.open(s.parts)
	if err == nil {
		err = m.reopened()
	}
	if m.found(err, path) {
		return
	}
	for _, b := range f.Blocks[next:] {
		got := m.do(b)
		if m.found(m.failed, path) {
			return
		}
		if !slices.Equal(got, b.Want) {
			m.t.Errorf("%s:%d: a %s of %s gave a wrong answer:\n%s\nwant\n%s", f.Path, b.Line, m.cfg.damage.name, path,
				strings.Join(got, "\n"), strings.Join(b.Want, "\n"))
			return
		}
	}
}

// found reports whether the damage was found; the error must say so.
func (m *machine) found(err error, path string) bool {
	m.t.Helper()
	if err != nil && (!state.IsDamage(err) || !strings.Contains(err.Error(), m.fs.PathBase(path))) {
		m.t.Errorf("a %s of %s: the error does not name the file: %v", m.cfg.damage.name, path, err)
	}
	return err != nil
}

func (m *machine) put(path string, data []byte) {
	m.t.Helper()
	if err := m.fs.Remove(path); !vfs.IsNotExist(err) {
		m.must(err)
	}
	if data != nil {
		m.must(vfs.WriteFile(m.fs, path, data))
	}
}
