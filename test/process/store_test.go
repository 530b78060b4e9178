package process

import (
	"strings"
	"testing"
)

// TestCredentialsInScripts: they are refused, and not repeated.
func TestCredentialsInScripts(t *testing.T) {
	p := newPlace(t)
	p.write("job.sql", "SET 's3.secret-key' = 'hunter2';\nSELECT 1;\n")
	o := p.refused(2, []string{"job.sql:1:5", "AWS_SECRET_ACCESS_KEY"}, "run", "job.sql")
	o.stderr += p.refused(2, []string{"AWS_SECRET_ACCESS_KEY"}, "run", "job.sql", "-D", "s3.access-key=hunter2").stderr
	if strings.Contains(o.stderr+o.stdout, "hunter2") {
		t.Errorf("%s", o)
	}
	p.write("job.sql", "SELECT 1;\n")
	p.env = []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_PROFILE=", "HOME=/nonexistent"}
	p.write("insert.sql", sums)
	p.refused(3, []string{"there are no credentials"}, "run", "insert.sql", "-D", "execution.checkpointing.dir=s3://bucket/x")
}
