package fn_test

import (
	"testing"

	"github.com/millstream-io/millstream/internal/expr/exprtest"
)

// TestAnswers compares with what Flink answers.
func TestAnswers(t *testing.T) { exprtest.CheckFile(t, "testdata/answers.txt") }

// TestRightAnswers holds the answers that are deliberately not Flink's.
func TestRightAnswers(t *testing.T) {
	exprtest.Check(t, exprtest.Env(), []exprtest.Answer{
		// Characters are whole, also where Flink counts halves of them.
		{"OVERLAY('a😀bc' PLACING 'X' FROM 2)", "aXbc :: VARCHAR(6) NOT NULL"},
		{"OVERLAY('a😀bc' PLACING 'X' FROM 3)", "a😀Xc :: VARCHAR(6) NOT NULL"},
		{"LPAD('😀', 3, '笑')", "笑笑😀 :: STRING NOT NULL"},
		{"SPLIT('a😀b', '')", "[a, 😀, b] :: ARRAY<STRING> NOT NULL"},
		{"GREATEST('😀', U&'\\FFFF')", "😀 :: VARCHAR(2) NOT NULL"},
		{"E'a\\nb' LIKE 'a_b'", "TRUE :: BOOLEAN NOT NULL"},
		// Maps keep the order of the text.
		{"STR_TO_MAP('b=1,a=2,c=3')", "{b=1, a=2, c=3} :: MAP<STRING, STRING>"},
		// A NULL is refused where the type has none.
		{"LPAD('hi', -1, '?')", "error"},
		{"RPAD('hi', 4, '')", "error"},
		{"REGEXP_REPLACE(NULLIF('abc', ''), '(', 'x')", "NULL :: STRING"},
		// Integers do not wrap around.
		{"ABS(-2147483648)", "error"},
		{"ABS(CAST(-128 AS TINYINT))", "error"},
		{"ROUND(2147483647, -1)", "error"},
		{"ROUND(CAST(127 AS TINYINT), -1)", "error"},
		{"ROUND(9223372036854775807, -19)", "error"},
		{"TRUNCATE(2147483647, -1)", "2147483640 :: INT NOT NULL"},
		// Flink fails to compile these, or to compute them.
		{"SIGN(CAST(-5 AS TINYINT))", "-1 :: TINYINT NOT NULL"},
		{"ATAN2(1.5, 2)", "0.6435011087932844 :: DOUBLE NOT NULL"},
		{"TRUNCATE(CAST(15 AS SMALLINT), -1)", "10 :: SMALLINT NOT NULL"},
		{"TRUNCATE(1e300, 1)", "1.0E300 :: DOUBLE NOT NULL"},
		{"ROUND(CAST('NaN' AS DOUBLE), 1)", "NaN :: DOUBLE NOT NULL"},
		{"ROUND(CAST('-Infinity' AS DOUBLE))", "-Infinity :: DOUBLE NOT NULL"},
		// A constant is as good as a literal.
		{"ROUND(1.259, 1 + 1)", "1.26 :: DECIMAL(4, 2) NOT NULL"},
		// What is not supported says so.
		{"ENCODE('é', 'GBK')", "error"},
		{"REGEXP('x', '\\p{InGreek}')", "error"},
		{"PRINTF('%h', 'abc')", "NULL :: STRING"},
		{"PRINTF('%s', x'41')", "error"},
		{"ARRAY_CONTAINS(ARRAY[1], INTERVAL '1' DAY)", "error"},
	})
}
