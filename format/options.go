package format

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// OptionKind is the form of an option's value.
type OptionKind uint8

// The forms of option values.
const (
	Text OptionKind = iota
	Bool
	Integer
	Duration // "10 s", "5 min", "500 ms", "1 d"; without a unit, ms
	Size     // "128 mb", "64 kb", "512"; without a unit, bytes
	Enum     // one of Values
)

// Option describes one option of a connector or a format.
type Option struct {
	Name    string
	Kind    OptionKind
	Default string
	Doc     string
	// Values are those of an Enum.
	Values []string
	// Required options must be given. Secret ones never appear in output.
	Required, Secret bool
	// Pattern options take any name with this prefix ("fields." in datagen).
	Pattern bool
	// Own marks options that Flink does not have.
	Own bool
}

// Options are the values of a table's WITH clause, checked against the Options
// that the connector and the format declare.
type Options struct {
	defs   map[string]*Option
	values map[string]string
}

// NewOptions checks values against defs: unknown names (with a suggestion),
// missing ones, and forms. suggest may be nil.
func NewOptions(defs []Option, values map[string]string, suggest func(string, []string) string) (*Options, error) {
	o := &Options{defs: map[string]*Option{}, values: values}
	var names []string
	for i := range defs {
		o.defs[defs[i].Name] = &defs[i]
		names = append(names, defs[i].Name)
	}
	sort.Strings(names)
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		d := o.def(k)
		if d == nil {
			msg := fmt.Sprintf("unknown option %q", k)
			if suggest != nil {
				if s := suggest(k, names); s != "" {
					return nil, fmt.Errorf("%s; did you mean %q?", msg, s)
				}
			}
			return nil, fmt.Errorf("%s; the options are: %s", msg, strings.Join(names, ", "))
		}
		if err := d.check(k, values[k]); err != nil {
			return nil, err
		}
	}
	for _, d := range defs {
		if _, ok := values[d.Name]; d.Required && !ok {
			return nil, fmt.Errorf("option %q is missing: %s", d.Name, d.Doc)
		}
	}
	return o, nil
}

func (o *Options) def(name string) *Option {
	if d := o.defs[name]; d != nil {
		return d
	}
	for _, d := range o.defs {
		if d.Pattern && strings.HasPrefix(name, d.Name) {
			return d
		}
	}
	return nil
}

func (d *Option) check(name, v string) error {
	var err error
	switch d.Kind {
	case Bool:
		_, err = parseBool(v)
	case Integer:
		_, err = strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	case Duration:
		_, err = ParseDuration(v)
	case Size:
		_, err = ParseSize(v)
	case Enum:
		for _, x := range d.Values {
			if strings.EqualFold(x, v) {
				return nil
			}
		}
		return fmt.Errorf("option %q is %q; it must be one of %s", name, v, strings.Join(d.Values, ", "))
	}
	if err == nil {
		return nil
	}
	if d.Secret {
		return fmt.Errorf("option %q has a value that is no %s", name, d.Kind)
	}
	return fmt.Errorf("option %q is %q, which is no %s", name, v, d.Kind)
}

// String names the form for people.
func (k OptionKind) String() string {
	return [...]string{"text", "boolean (true or false)", "whole number", "duration such as 10 s", "size such as 128 mb", "word"}[k]
}

func parseBool(v string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("no boolean")
}

// Has reports whether the option was given.
func (o *Options) Has(name string) bool { _, ok := o.values[name]; return ok }

// Text returns an option's value, or its default.
func (o *Options) Text(name string) string {
	if v, ok := o.values[name]; ok {
		return v
	}
	if d := o.def(name); d != nil {
		return d.Default
	}
	return ""
}

// Bool returns the value of a Bool option; false if it has no default.
func (o *Options) Bool(name string) bool { b, _ := parseBool(o.Text(name)); return b }

// Int returns the value of an Integer option; 0 if it has no default.
func (o *Options) Int(name string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSpace(o.Text(name)), 10, 64)
	return n
}

// Duration returns the value of a Duration option; 0 if it has no default.
func (o *Options) Duration(name string) time.Duration { d, _ := ParseDuration(o.Text(name)); return d }

// Size returns the value of a Size option in bytes; 0 if it has no default.
func (o *Options) Size(name string) int64 { n, _ := ParseSize(o.Text(name)); return n }

// Enum returns the value of an Enum option as it is spelled in Values.
func (o *Options) Enum(name string) string {
	v := o.Text(name)
	if d := o.def(name); d != nil {
		for _, x := range d.Values {
			if strings.EqualFold(x, v) {
				return x
			}
		}
	}
	return v
}

// Names returns the names of the options that were given, sorted.
func (o *Options) Names() []string {
	out := make([]string, 0, len(o.values))
	for k := range o.values {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// Sub returns the options that begin with prefix, without it. Their
// definitions are those of this set.
func (o *Options) Sub(prefix string) *Options {
	out := &Options{defs: map[string]*Option{}, values: map[string]string{}}
	for k, d := range o.defs {
		if strings.HasPrefix(k, prefix) {
			out.defs[k[len(prefix):]] = d
		}
	}
	for k, v := range o.values {
		if strings.HasPrefix(k, prefix) {
			out.values[k[len(prefix):]] = v
		}
	}
	return out
}
