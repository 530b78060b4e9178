package bind

import (
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/connect"
)

// Unsupported is the error of a statement that is right but uses what Millstream does not have yet. Each message names the
// feature and its place.
type Unsupported struct{ diag.List }

// errorf reports a mistake and returns it, so that a hint can be set.
func (b *Binder) errorf(pos diag.Pos, format string, args ...any) *diag.Error {
	return b.errs.Errorf(pos, format, args...)
}

// unknown reports a name that stands for nothing, with what was probably meant.
func (b *Binder) unknown(pos diag.Pos, name string, candidates []string, format string, args ...any) {
	b.errs.Errorf(pos, format, args...).Hint = diag.DidYouMean(name, candidates)
}

// fault reports what is wrong with a table's options.
func (b *Binder) fault(f *connect.Fault) {
	if f.Missing {
		b.missing.Add(f.Error)
	} else {
		b.errs.Add(f.Error)
	}
}

// unsupported reports a feature that is missing here: "JOIN is not supported yet".
func (b *Binder) unsupported(pos diag.Pos, feature string) {
	b.missing.Errorf(pos, "%s is not supported yet", feature)
}

// Err returns what was reported since the last call: nil, a diag.List, or an Unsupported if nothing but missing features was
// found.
func (b *Binder) Err() error {
	errs, missing := b.errs, b.missing
	b.errs, b.missing = nil, nil
	switch {
	case len(errs) == 0 && len(missing) == 0:
		return nil
	case len(errs) == 0:
		missing.Sort()
		return &Unsupported{missing}
	}
	errs.Append(missing)
	errs.Sort()
	return errs
}
