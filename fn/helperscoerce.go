package fn

import "github.com/millstream-io/millstream/types"

// Implicit reports whether a value of type from becomes one of type to without
// a CAST.
func Implicit(from, to types.Type) bool {
	return from.Kind == types.Null || from.Same(to) || from.IsNumeric() && to.IsNumeric() || from.IsChar() && to.IsChar()
}

// CommonType returns the least type to which values of all given types are
// converted without a CAST. It is nullable if one of them is.
func CommonType(ts []types.Type) (types.Type, bool) {
	out, nullable := types.Type{}, false
	for _, t := range ts {
		nullable = nullable || t.Nullable || t.Kind == types.Null
		switch {
		case t.Kind == types.Null:
		case !out.IsValid():
			out = t
		case !out.Same(t):
			return types.Type{}, false
		}
	}
	if !out.IsValid() {
		return types.Of(types.Null), len(ts) > 0
	}
	return out.WithNull(nullable), true
}
