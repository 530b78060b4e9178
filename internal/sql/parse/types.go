package parse

import (
	"github.com/millstream-io/millstream/internal/diag"
	"github.com/millstream-io/millstream/internal/sql/ast"
)

// typeSyntax says how a type's name goes on.
type typeSyntax struct {
	name string // the canonical name
	args int    // how many numbers in parentheses may follow
}

var typeNames = map[string]typeSyntax{
	"CHAR": {"CHAR", 1}, "CHARACTER": {"CHAR", 1}, "VARCHAR": {"VARCHAR", 1}, "STRING": {"STRING", 0}, "BOOLEAN": {"BOOLEAN", 0},
	"BINARY": {"BINARY", 1}, "VARBINARY": {"VARBINARY", 1}, "BYTES": {"BYTES", 0}, "DECIMAL": {"DECIMAL", 2}, "DEC": {"DECIMAL", 2},
	"NUMERIC": {"DECIMAL", 2}, "TINYINT": {"TINYINT", 0}, "SMALLINT": {"SMALLINT", 0}, "INT": {"INT", 0}, "INTEGER": {"INT", 0},
	"BIGINT": {"BIGINT", 0}, "FLOAT": {"FLOAT", 0}, "DOUBLE": {"DOUBLE", 0}, "DATE": {"DATE", 0}, "TIME": {"TIME", 1},
	"TIMESTAMP": {"TIMESTAMP", 1}, "TIMESTAMP_LTZ": {"TIMESTAMP_LTZ", 1}, "VARIANT": {"VARIANT", 0}, "BITMAP": {"BITMAP", 0},
	"ANY": {"ANY", 0},
}

// foreignTypes are names of other dialects, with what to write instead.
var foreignTypes = map[string]string{
	"TEXT": "STRING", "BOOL": "BOOLEAN", "LONG": "BIGINT", "INT8": "BIGINT", "INT4": "INT", "INT2": "SMALLINT", "INT64": "BIGINT",
	"INT32": "INT", "FLOAT8": "DOUBLE", "FLOAT4": "FLOAT", "REAL": "FLOAT", "DATETIME": "TIMESTAMP(3)", "TIMESTAMPTZ": "TIMESTAMP_LTZ(3)",
	"BLOB": "BYTES", "CLOB": "STRING", "JSON": "STRING", "UUID": "STRING", "NUMBER": "DECIMAL(p, s)", "SERIAL": "BIGINT", "BYTEA": "BYTES",
	"NCHAR": "CHAR(n)", "BIT": "BOOLEAN", "LIST": "ARRAY<type>", "STRUCT": "ROW<name type, ..>",
}

// nullableType reads a type and the NOT NULL or NULL behind it.
func (p *parser) nullableType() *ast.TypeName {
	t := p.typeName()
	switch {
	case p.accept("NOT"):
		p.expect("after NOT", "NULL")
		t.Null = ast.NotNull
	case p.accept("NULL"):
		t.Null = ast.NullExplicit
	default:
		return t
	}
	t.Span = p.span(t.Span)
	return t
}

// castType reads the type of a CAST, where Flink takes the elements of INT ARRAY as NOT NULL.
func (p *parser) castType() *ast.TypeName { return p.typeWithElems(ast.NotNull) }

func (p *parser) typeName() *ast.TypeName { return p.typeWithElems(ast.NullDefault) }

// typeWithElems reads a type, with the ARRAY and MULTISET that may follow it; elems is the nullability of their elements.
func (p *parser) typeWithElems(elems ast.Nullability) *ast.TypeName {
	p.enter()
	defer p.leave()
	start := p.tok.Span
	t := p.plainType()
	t.Span = p.span(start)
	for n := 0; p.isAny("ARRAY", "MULTISET"); n++ {
		if n > maxDepth {
			p.enter()
		}
		t.Null = elems
		outer := &ast.TypeName{Name: p.tok.up, Elems: []*ast.TypeName{t}}
		p.advance()
		outer.Span = p.span(start)
		t = outer
	}
	return t
}

func (p *parser) plainType() *ast.TypeName {
	up := p.tok.up
	if p.tok.kind == tokWord {
		switch up {
		case "ARRAY", "MULTISET", "MAP":
			return p.collectionType()
		case "ROW", "STRUCTURED":
			return p.rowType()
		case "RAW":
			return p.rawType()
		case "INTERVAL":
			p.advance()
			q := p.intervalQualifier()
			return &ast.TypeName{Name: "INTERVAL", Interval: &q}
		}
		if syntax, ok := typeNames[up]; ok {
			return p.scalarType(syntax)
		}
		if instead := foreignTypes[up]; instead != "" {
			p.failAt(p.tok.Span, "write "+instead, "there is no type %s", up)
		}
	}
	if !p.tok.isName() {
		p.expected("a type", "")
	}
	if p.tok.kind == tokWord {
		if s := diag.Suggest(up, typeWords()); s != "" {
			p.failAt(p.tok.Span, "did you mean "+s+"?", "there is no type %s", p.tok.text)
		}
	}
	name := p.name("the name of a type")
	return &ast.TypeName{User: &name}
}

func typeWords() []string {
	words := []string{"ARRAY", "BIGINT", "BINARY", "BITMAP", "BOOLEAN", "BYTES", "CHAR", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INT",
		"INTEGER", "INTERVAL", "MAP", "MULTISET", "NUMERIC", "RAW", "ROW", "SMALLINT", "STRING", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ",
		"TINYINT", "VARBINARY", "VARCHAR", "VARIANT"}
	return words
}

func (p *parser) scalarType(syntax typeSyntax) *ast.TypeName {
	t := &ast.TypeName{Name: syntax.name}
	p.advance()
	switch {
	case (t.Name == "CHAR" || t.Name == "BINARY") && p.accept("VARYING"):
		t.Name = "VAR" + t.Name
	case t.Name == "DOUBLE":
		p.accept("PRECISION")
	}
	if p.isOp("(") {
		if syntax.args == 0 {
			p.failAt(p.tok.Span, "", "the type %s takes no numbers in parentheses", t.Name)
		}
		p.advance()
		t.Args = []int{p.integer("in the type " + t.Name)}
		for len(t.Args) < syntax.args && p.acceptOp(",") {
			t.Args = append(t.Args, p.integer("in the type "+t.Name))
		}
		p.expectOp(")", "in the type "+t.Name)
	}
	if t.Name == "TIME" || t.Name == "TIMESTAMP" {
		p.timeZone(t)
	}
	return t
}

func (p *parser) timeZone(t *ast.TypeName) {
	switch {
	case p.isSeq("WITHOUT", "TIME"):
		p.expect("in the type "+t.Name, "WITHOUT", "TIME", "ZONE")
	case p.isSeq("WITH", "LOCAL") && t.Name == "TIMESTAMP":
		p.expect("in the type TIMESTAMP", "WITH", "LOCAL", "TIME", "ZONE")
		t.Name = "TIMESTAMP_LTZ"
	case p.isSeq("WITH", "LOCAL"), p.isSeq("WITH", "TIME"):
		p.failAt(p.tok.Span, "TIMESTAMP_LTZ(p) is the type of instants", "%s WITH .. TIME ZONE is not supported", t.Name)
	}
}

func (p *parser) collectionType() *ast.TypeName {
	t := &ast.TypeName{Name: p.tok.up}
	p.advance()
	p.expectOp("<", "after the type "+t.Name)
	t.Elems = []*ast.TypeName{p.nullableType()}
	if t.Name == "MAP" {
		p.expectOp(",", "after the type of a MAP's keys")
		t.Elems = append(t.Elems, p.nullableType())
	}
	p.expectOp(">", "at the end of the type "+t.Name)
	return t
}

// rowType reads ROW<name type 'comment', ..>, ROW(..) and STRUCTURED<'class', ..>.
func (p *parser) rowType() *ast.TypeName {
	t := &ast.TypeName{Name: p.tok.up}
	p.advance()
	if p.acceptOp("<>") {
		return t
	}
	closer := ">"
	switch {
	case p.acceptOp("<"):
	case p.isOp("(") && t.Name == "ROW":
		p.advance()
		closer = ")"
	default:
		p.expected(`"<"`, "after the type "+t.Name)
	}
	if t.Name == "STRUCTURED" {
		t.Strings = []*ast.StringLit{p.stringLit("as the class of a STRUCTURED type")}
		if !p.acceptOp(",") {
			p.expectOp(closer, "at the end of the type STRUCTURED")
			return t
		}
	}
	for more := !p.isOp(closer); more; more = p.acceptOp(",") {
		t.Fields = append(t.Fields, p.field())
	}
	p.expectOp(closer, "at the end of the type "+t.Name)
	return t
}

func (p *parser) field() ast.Field {
	start := p.tok.Span
	f := ast.Field{Name: p.ident("the name of a field")}
	f.Type = p.nullableType()
	if p.tok.kind == tokString {
		f.Comment = p.anyString()
	}
	f.Span = p.span(start)
	return f
}

func (p *parser) rawType() *ast.TypeName {
	p.advance()
	p.expectOp("(", "after the type RAW")
	class := p.stringLit("as the class of a RAW type")
	p.expectOp(",", "after the class of a RAW type")
	snapshot := p.stringLit("as the serializer of a RAW type")
	p.expectOp(")", "at the end of the type RAW")
	return &ast.TypeName{Name: "RAW", Strings: []*ast.StringLit{class, snapshot}}
}
