package csv

import (
	"os"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/types"
)

// TestBroken reads broken lines, and compares what is said about them with
// testdata/broken.txt: a line, and below it the message and the hint.
func TestBroken(t *testing.T) {
	data, err := os.ReadFile("testdata/broken.txt")
	if err != nil {
		t.Fatal(err)
	}
	fields := []types.Field{col("i", integer), col("s", str), col("dt", types.Of(types.Date)), col("d", types.DecimalOf(5, 2).NotNull()),
		col("b", types.Of(types.Boolean)), col("l", types.ArrayOf(integer)), col("r", types.RowOf(col("x", integer), col("y", str)))}
	var got strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		line, _, _ := strings.Cut(block, "\n")
		_, err := table(nil, fields...).Decode([]byte(strings.ReplaceAll(line, `\xff`, "\xff")+"\n"), 1<<20, 10)
		got.WriteString(line + "\n")
		if err != nil {
			got.WriteString(strings.ReplaceAll(err.Error(), "\n", `\n`) + "\n")
		}
		got.WriteString("\n")
	}
	if got.String() != string(data) {
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile("testdata/broken.txt", []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Errorf("got\n%s", got.String())
	}
}
