package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestCutStatement(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"SELECT 1; SELECT 2;", []string{"SELECT 1;", " SELECT 2;"}},
		{"SELECT ';' ; x", []string{"SELECT ';' ;"}},
		{"SELECT 'it''s;' ;", []string{"SELECT 'it''s;' ;"}},
		{"SELECT `a;b`;", []string{"SELECT `a;b`;"}},
		{"SELECT 1 -- ; not here\n;", []string{"SELECT 1 -- ; not here\n;"}},
		{"SELECT /* ; */ 1;", []string{"SELECT /* ; */ 1;"}},
		{"EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END; SELECT 3;",
			[]string{"EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END;", " SELECT 3;"}},
		{"SELECT CASE WHEN a THEN b END; SELECT 1;", []string{"SELECT CASE WHEN a THEN b END;", " SELECT 1;"}},
		{"SELECT 'not closed;", nil},
		{"SELECT 1", nil},
	} {
		var got []string
		rest := c.text
		for {
			stmt, r, ok := cutStatement(rest)
			if !ok {
				break
			}
			got, rest = append(got, stmt), r
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestShellHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	status := Main([]string{"sql"}, strings.NewReader("help;\nHELP\nSELECT help;\n"), &stdout, &stderr)
	if status != statusUsage || stdout.String() != shellHelp+shellHelp || !strings.HasPrefix(stderr.String(), "stdin:3:8: ") {
		t.Errorf("status %d\n%s\n%s", status, stdout.String(), stderr.String())
	}
}

func TestShell(t *testing.T) {
	in := `
CREATE TABLE a (event_type INT) WITH ('connector' = 'nexmark', 'events' = '1');
SELECT x FROM a;
SELECT 1 AS eins,
  2 AS zwei;
SELECT 3 +;
SHOW TABLES;
exit
SELECT 4;
`
	var stdout, stderr bytes.Buffer
	status := Main([]string{"sql"}, strings.NewReader(in), &stdout, &stderr)
	if want := "eins | zwei\n-----+-----\n   1 |    2\ntable name\n----------\na\n"; stdout.String() != want {
		t.Errorf("got %q, want %q", stdout.String(), want)
	}
	if want := "stdin:3:8: unknown column \"x\" in table a\nstdin:6:11: expected an expression, found \";\"\n"; stderr.String() != want {
		t.Errorf("got %q, want %q", stderr.String(), want)
	}
	if status != statusUsage {
		t.Errorf("exit status %d", status)
	}
}
