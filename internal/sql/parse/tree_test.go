package parse

import (
	"reflect"
	"testing"

	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// stripped returns a deep copy of the tree without places, and without what tells whether a name stood in back-ticks.
func stripped[T any](tree T) T {
	return copyStripped(reflect.ValueOf(&tree).Elem()).Interface().(T)
}

func copyStripped(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(copyStripped(v.Elem()))
			out.Set(p)
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(copyStripped(v.Elem()))
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = reflect.Append(out, copyStripped(v.Index(i)))
		}
	case reflect.Struct:
		switch v.Interface().(type) {
		case diag.Span, diag.Pos:
			return out
		case ast.Ident:
			return reflect.ValueOf(ast.Ident{Name: v.Interface().(ast.Ident).Name})
		}
		for i := range v.NumField() {
			out.Field(i).Set(copyStripped(v.Field(i)))
		}
	default:
		out.Set(v)
	}
	return out
}

// checkRoundTrip fails unless the statement, printed and parsed again, is the same tree and prints the same.
func checkRoundTrip(t *testing.T, s ast.Statement) {
	t.Helper()
	text := ast.String(s)
	again, errs := Statement(text)
	if len(errs) > 0 {
		t.Fatalf("the printed statement does not parse: %v\n%s", errs, text)
	}
	if a, b := stripped(s), stripped(again); !reflect.DeepEqual(a, b) {
		t.Fatalf("the printed statement is another tree\n%s\n%s", text, ast.String(again))
	}
	if second := ast.String(again); second != text {
		t.Fatalf("printing changes\n%s\n%s", text, second)
	}
}

// checkSpans fails unless each node with a place lies within the source, and its end is not before its start.
func checkSpans(t *testing.T, src string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			checkSpans(t, src, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkSpans(t, src, v.Index(i))
		}
	case reflect.Struct:
		if s, ok := v.Interface().(diag.Span); ok {
			if s.Lo < 0 || s.Hi > len(src) || s.Lo > s.Hi || s.End.Before(s.Start) {
				t.Fatalf("bad span %+v in %q", s, src)
			}
			return
		}
		for i := range v.NumField() {
			checkSpans(t, src, v.Field(i))
		}
	}
}
