package diag

import (
	"errors"
	"strings"
	"testing"
)

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		err        *Error
		file, want string
	}{
		{&Error{Pos: Pos{14, 9}, Msg: "unknown column", Hint: `did you mean "delay"?`}, "job.sql", `job.sql:14:9: unknown column; did you mean "delay"?`},
		{&Error{Pos: Pos{14, 9}, Msg: "m"}, "", "14:9: m"},
		{&Error{Msg: "m"}, "job.sql", "job.sql: m"},
		{&Error{Msg: "m"}, "", "m"},
	} {
		if got := c.err.In(c.file); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestListSortsDropsAndCaps(t *testing.T) {
	var l List
	for line := 30; line > 0; line-- {
		l.Errorf(Pos{line, 1}, "m")
	}
	if len(l) != Max || l[0].Pos.Line > 11 {
		t.Fatalf("%d errors, the first in line %d", len(l), l[0].Pos.Line)
	}
	l.Sort()
	for i, e := range l {
		if e.Pos.Line != i+1 {
			t.Errorf("error %d stands in line %d", i, e.Pos.Line)
		}
	}
	twice := List{Errorf(Pos{1, 2}, "a"), Errorf(Pos{1, 1}, "b"), Errorf(Pos{1, 2}, "a")}
	if got := twice.In("f"); got != "f:1:1: b\nf:1:2: a" {
		t.Errorf("got %q", got)
	}
	if (List{}).Err() != nil {
		t.Error("an empty list is an error")
	}
	var e *Error
	if !errors.As(twice.Err(), &e) || e.Msg != "a" {
		t.Errorf("got %v", e)
	}
}

func TestSpan(t *testing.T) {
	a := Span{Start: Pos{1, 1}, End: Pos{1, 3}, Lo: 0, Hi: 2}
	b := Span{Start: Pos{1, 4}, End: Pos{1, 6}, Lo: 3, Hi: 5}
	if got := a.To(b).Text("ab cd ef"); got != "ab cd" {
		t.Errorf("got %q", got)
	}
	if got := b.Text("ab"); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestSuggest(t *testing.T) {
	candidates := strings.Fields("delay origin destination DELAYED a ab")
	for name, want := range map[string]string{
		"delai": "delay", "dealy": "delay", "Delay": "delay", "orgin": "origin", "destnation": "destination", "x": "", "zzz": "", "DELAY": "delay",
		"delay": "DELAYED", "": "",
	} {
		if got := Suggest(name, candidates); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := DidYouMean("orgin", candidates); got != `did you mean "origin"?` {
		t.Errorf("got %q", got)
	}
}
