package ast

import (
	"slices"
	"testing"
)

func TestQuoteIdent(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "aB_1$x": "aB_1$x", "type": "type", "value": "`value`", "Order": "`Order`", "a b": "`a b`", "a`b": "`a``b`", "1a": "`1a`",
		"é": "`é`", "map": "`map`", "_utf8": "`_utf8`", "": "``",
	} {
		if got := QuoteIdent(name); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

func TestReservedWords(t *testing.T) {
	words := ReservedWords()
	if !slices.IsSorted(words) || !slices.Contains(words, "VALUE") || slices.Contains(words, "TYPE") {
		t.Errorf("the list is not as expected: %d words", len(words))
	}
	if !IsReserved("SELECT") || IsReserved("PATH") {
		t.Error("SELECT must be reserved and PATH must not")
	}
}

func TestStringOfParts(t *testing.T) {
	col := &ColumnRef{Parts: []Ident{{Name: "t"}, {Name: "user"}}}
	for want, n := range map[string]Node{
		"t.`user`":                 col,
		"t.`user` AS x":            SelectItem{Expr: col, Alias: &Ident{Name: "x"}},
		"t.`user` DESC NULLS LAST": OrderItem{Expr: col, Desc: true, Nulls: NullsLast},
		"(t.`user`).b":             &FieldAccess{X: col, Name: Ident{Name: "b"}},
		"- -1":                     &Unary{Op: "-", X: &Unary{Op: "-", X: &NumberLit{Text: "1"}}},
	} {
		if got := String(n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
