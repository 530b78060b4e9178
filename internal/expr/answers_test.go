package expr_test

import (
	"testing"

	"github.com/millstream-io/millstream/internal/expr/exprtest"
)

// TestAnswers compares with what Flink answers.
func TestAnswers(t *testing.T) { exprtest.CheckFile(t, "testdata/answers.txt") }

// TestRightAnswers holds the answers that are deliberately not Flink's: where it
// answers wrongly, and where integers overflow.
func TestRightAnswers(t *testing.T) {
	exprtest.Check(t, exprtest.Env(), []exprtest.Answer{
		// What is not in a collection is NULL, also where the elements are NOT NULL.
		{"ARRAY[1, 2][3]", "NULL :: INT"},
		{"ARRAY['a', 'b'][3]", "NULL :: CHAR(1)"},
		{"MAP['a', 1]['z']", "NULL :: INT"},
		// Fractions before 1970 are cut toward the past.
		{"CAST(TIMESTAMP '1969-12-31 23:59:59.999' AS DATE)", "1969-12-31 :: DATE NOT NULL"},
		{"CAST(TIMESTAMP '1969-12-31 23:59:59.999' AS TIME(0))", "23:59:59 :: TIME(0) NOT NULL"},
		{"CAST(TIMESTAMP '1969-12-31 23:59:59.5' AS TIMESTAMP_LTZ(0))", "1969-12-31 23:59:59 :: TIMESTAMP_LTZ(0) NOT NULL"},
		// Minus zero is zero, and NaN is not equal to itself.
		{"CAST('-0.0' AS DOUBLE) IN (1.5, 0)", "TRUE :: BOOLEAN NOT NULL"},
		{"CAST('NaN' AS DOUBLE) <> CAST('NaN' AS DOUBLE)", "TRUE :: BOOLEAN NOT NULL"},
		// Texts are compared with booleans as booleans.
		{"'true' = TRUE", "TRUE :: BOOLEAN NOT NULL"},
		{"FALSE = 'f'", "TRUE :: BOOLEAN NOT NULL"},
		{"'eight' = TRUE", "FALSE :: BOOLEAN NOT NULL"},
		{"'eight' <> TRUE", "TRUE :: BOOLEAN NOT NULL"},
		// For the order, a text has to be a boolean, or a number.
		{"TRUE < 'x'", "error"},
		{"1 < 'x'", "error"},
		// A number becomes an interval of so many units, whatever it is.
		{"CAST(CAST(5 AS BIGINT) AS INTERVAL DAY)", "+5 00:00:00.000 :: INTERVAL SECOND(3) NOT NULL"},
		{"CAST(CAST(5 AS INT) AS INTERVAL YEAR)", "+5-00 :: INTERVAL MONTH NOT NULL"},
		{"CAST(1.5 AS INTERVAL DAY)", "+1 12:00:00.000 :: INTERVAL SECOND(3) NOT NULL"},
		{"CAST(CAST(1.5 AS DECIMAL(5, 2)) AS INTERVAL YEAR)", "+1-06 :: INTERVAL MONTH NOT NULL"},
		{"TRY_CAST(2 AS INTERVAL DAY)", "+2 00:00:00.000 :: INTERVAL SECOND(3)"},
		// Years go on behind 9999.
		{"CAST('9999-12-31' AS DATE) + INTERVAL '1' DAY", "10000-01-01 :: DATE NOT NULL"},
		// TRY_CAST never fails.
		{"TRY_CAST(CAST('NaN' AS DOUBLE) AS DECIMAL(5, 2))", "NULL :: DECIMAL(5, 2)"},
		{"TRY_CAST('23:59:59.9999' AS TIME(3))", "NULL :: TIME(3)"},
		// A NULL is not the zero of its type.
		{"TO_TIMESTAMP_LTZ(0, 3) = CAST(NULL AS TIMESTAMP_LTZ(3))", "NULL :: BOOLEAN"},
		// Integers do not wrap around.
		{"2147483647 + 1", "error"},
		{"-2147483648 - 1", "error"},
		{"9223372036854775807 * 2", "error"},
		{"-2147483648 / -1", "error"},
		{"-CAST(-128 AS TINYINT)", "error"},
		{"CAST(300 AS TINYINT)", "error"},
		{"TRY_CAST(300 AS TINYINT)", "NULL :: TINYINT"},
		{"CAST(3e9 AS INT)", "error"},
		{"CAST(CAST('NaN' AS DOUBLE) AS INT)", "error"},
		{"CAST(3000000000.5 AS INT)", "error"},
		{"CAST(2147483647.9 AS INT)", "2147483647 :: INT NOT NULL"},
		{"CAST(-128.9e0 AS TINYINT)", "-128 :: TINYINT NOT NULL"},
		{"INTERVAL '99' YEAR * 2147483647", "error"},
	})
}
