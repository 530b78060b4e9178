package fn

// The families by which functions are grouped in the documentation.
const (
	familyString      = "string"
	familyArithmetic  = "arithmetic"
	familyTime        = "time"
	familyConditional = "conditional"
	familyCollection  = "collection"
	familyHash        = "hash"
)

// typed makes a Bind refuse a bare NULL: as in Flink, most functions do not
// guess the type of a NULL that has none.
func typed(bind func(*Call) (*Bound, error)) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		for i, a := range c.Args {
			if a.Implicit {
				return nil, Argf(i, "argument %d of %s is a NULL without a type; write CAST(NULL AS ...) with the type that is meant",
					i+1, c.Def.Name)
			}
		}
		return bind(c)
	}
}

// either makes a Bind of several: the first that takes the arguments. If none
// does, the error is that of the last one that got furthest.
func either(binds ...func(*Call) (*Bound, error)) func(*Call) (*Bound, error) {
	return func(c *Call) (*Bound, error) {
		var first error
		for _, bind := range binds {
			b, err := bind(c)
			if err == nil {
				return b, nil
			}
			if first == nil || better(err, first) {
				first = err
			}
		}
		return nil, first
	}
}

// better reports whether an error blames an argument further to the right.
func better(err, than error) bool {
	e, ok := err.(*ArgError)
	t, is := than.(*ArgError)
	return ok && is && e.Arg > t.Arg
}
