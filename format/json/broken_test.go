package json

import (
	"os"
	"strings"
	"testing"

	"github.com/millstream-io/millstream/types"
)

// TestBroken reads broken records, and compares what is said about them with
// testdata/broken.txt: a record, and below it the message and the hint.
func TestBroken(t *testing.T) {
	data, err := os.ReadFile("testdata/broken.txt")
	if err != nil {
		t.Fatal(err)
	}
	row := types.RowOf(field("x", integer), field("y", str.NotNull()))
	fields := []types.Field{field("a", integer), field("b", boolean), field("s", str), field("d", types.DecimalOf(5, 2).NotNull()), field("f", double),
		field("dt", types.Of(types.Date)), field("ts", ts3), field("bin", types.BytesType()), field("l", types.ArrayOf(integer)),
		field("m", types.MapOf(str, bigint)), field("r", row)}
	var got strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		rec, _, _ := strings.Cut(block, "\n")
		tab := table(nil, fields...)
		_, err := tab.Decode([]byte(strings.ReplaceAll(rec, "${DEEP}", strings.Repeat("[", 1001))+"\n"), 1<<20, 10)
		got.WriteString(rec + "\n")
		if err != nil {
			got.WriteString(err.Error() + "\n")
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
