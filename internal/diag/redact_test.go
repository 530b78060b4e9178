package diag

import "testing"

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"s3://key:hunter2@host/b":                       "s3://key:****@host/b",
		"at postgres://:p@ss@h:5432/db, it is down":     "at postgres://:****@h:5432/db, it is down",
		`option "u" is "jdbc:x://h/?user=u&password=a"`: `option "u" is "jdbc:x://h/?user=u&password=****"`,
		"http://h/p?access_token=a;b=c&Api-Key=d":       "http://h/p?access_token=****;b=c&Api-Key=****",
		"file:///data/a:b@c":                            "file:///data/a:b@c",
		"s3://bucket/a@b":                               "s3://bucket/a@b",
		"SELECT a FROM t WHERE password = 'x'":          "SELECT a FROM t WHERE password = 'x'",
	} {
		if got := Redact(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
