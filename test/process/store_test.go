package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/millstream-io/millstream/internal/blob/blobtest"
)

// inStore are the options of a job whose checkpoints are in a bucket of the server.
func inStore(server *blobtest.Server) []string {
	return []string{"-D", "execution.checkpointing.dir=s3://" + blobtest.Bucket + "/jobs", "-D", "s3.endpoint=" + server.URL, "-D", "execution.checkpointing.interval=100 ms"}
}

// TestObjectStore runs a job with its checkpoints in an object store: it is killed,
// goes on with an empty data directory, is taken over by another process, and
// begins anew from a savepoint in the store. What it has written is what one run
// would have written.
func TestObjectStore(t *testing.T) {
	server := blobtest.New(t)
	p := newPlace(t)
	p.write("job.sql", sums)
	p.write("in/0.csv", events(0, 7)+events(1, 5))
	first := p.startSums(inStore(server)...)
	p.passed(first, 0)
	if o := p.good("checkpoints", "job", "--verify"); strings.Contains(o.stdout, "damaged") || !strings.Contains(o.stdout, "good") {
		t.Errorf("%s", o)
	}
	if _, err := os.Stat(p.path(".millstream/job/checkpoints")); !os.IsNotExist(err) {
		t.Errorf("there are checkpoints in the data directory: %v", err)
	}
	first.signal(syscall.SIGKILL)
	first.wait()
	if err := os.RemoveAll(p.path(".millstream")); err != nil {
		t.Fatal(err)
	}
	p.write("in/1.csv", events(2, 3))
	second := p.startSums(inStore(server)...)
	second.until("the job goes on", func() bool { return strings.Contains(second.stderr.String(), "goes on from checkpoint") })
	p.passed(second, 1)
	if o := p.good("savepoint", "job", "--to", "s3://"+blobtest.Bucket+"/saved/one"); !strings.Contains(o.stdout, "s3://bucket/saved/one") {
		t.Errorf("%s", o)
	}
	p.refused(3, []string{"is not empty"}, "savepoint", "job", "--to", "s3://"+blobtest.Bucket+"/saved/one")
	p.good("checkpoints", "s3://"+blobtest.Bucket+"/saved/one", "--verify", "-D", "s3.endpoint="+server.URL)
	// A process with another data directory takes the job over.
	third := p.start("", append([]string{"run", "job.sql", "--data", "other"}, inStore(server)...)...)
	if o := second.wait(); o.code != 3 || !strings.Contains(o.stderr, "was taken over by process") {
		t.Errorf("the second process: %s", o)
	}
	p.refused(3, []string{"job job: the job is run by process ", "delete the checkpoint from where the job runs"}, "checkpoints", "job", "--delete", "1")
	p.write("in/2.csv", events(3, 2)+events(4, 1))
	third.until("minute 3", func() bool {
		p.run("savepoint", "job", "--data", "other") // finishes the open files
		files, _ := filepath.Glob(p.path("out/[^._]*"))
		return slices.ContainsFunc(files, func(f string) bool {
			data, err := os.ReadFile(f)
			return err == nil && strings.Contains(string(data), "10:03:00")
		})
	})
	p.good("stop", "job", "--data", "other", "--drain")
	if o := third.wait(); o.code != 0 {
		t.Errorf("%s", o)
	}
	if o := p.run("checkpoints", "job", "--delete", "1"); strings.Contains(o.stderr, "the job is run by") {
		t.Errorf("nobody runs the job: %s", o)
	}
	want := slices.Concat(minutes(7, 0), minutes(5, 1), minutes(3, 2), minutes(2, 3), minutes(1, 4))
	slices.Sort(want)
	same(t, "three processes", p.lines("out"), want)
	p.refused(3, []string{"was drained"}, append([]string{"run", "job.sql", "--data", "other"}, inStore(server)...)...)
	for _, secret := range []string{"test-secret-4711"} {
		for _, pr := range []*process{first, second, third} {
			if strings.Contains(pr.stdout.String()+pr.stderr.String(), secret) {
				t.Error("the secret was printed")
			}
		}
	}
	p.refused(3, []string{"has its checkpoints in s3://bucket/jobs/job"}, "run", "job.sql", "--data", "other")
	p.write("fresh.sql", strings.ReplaceAll(sums, "'path' = 'out'", "'path' = 'again'"))
	from := p.start("", append([]string{"run", "fresh.sql", "--from", "s3://" + blobtest.Bucket + "/saved/one", "--allow-loss"}, inStore(server)...)...)
	from.until("the end", func() bool { return p.run("stop", "fresh", "--drain").code == 0 })
	if o := from.wait(); o.code != 0 {
		t.Errorf("%s", o)
	}
}

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
