package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/millstream-io/millstream/internal/checkpoint"
	"github.com/millstream-io/millstream/internal/runtime"
	"github.com/millstream-io/millstream/internal/vfs"
)

// progress is how far a script with several steps has come. While it runs, a
// file beside its first job says how often each of its jobs had been started
// before. A job that is started anew whenever the script runs is not started
// again after a crash if it has finished since the script began: its output
// would be written twice.
type progress struct {
	// file is empty for a script without jobs that keep something.
	fs   vfs.FS
	file string
	// before are the numbers of starts before this run of the script, by job.
	before map[string]int64
	// resumed is set if an earlier process began this run.
	resumed bool
	// places are the places of the jobs whose turn has not come; no other process
	// gets them meanwhile.
	places map[string]*runtime.Data
}

const (
	progressName  = "script"
	progressMagic = "millstream-script"
)

// begin opens the places of all jobs, and reads how far the script had come, or
// notes that it begins. The progress is to be closed, also if there is an error.
func (r *runner) begin(sc *script) (*progress, error) {
	p := &progress{fs: r.settings.disk(), before: map[string]int64{}, places: map[string]*runtime.Data{}}
	if r.settings.from != "" {
		if err := r.beginFrom(sc); err != nil {
			return p, err
		}
	}
	for _, s := range sc.steps {
		if s.job == nil || s.job.name == "" {
			continue
		}
		dir := r.settings.dataDir(s.job)
		how := runtime.Place.OpenData
		if r.settings.fresh && r.settings.from == "" {
			how = runtime.Place.OpenFresh
		}
		data, err := r.settings.open(s.job, how)
		if err != nil {
			return p, err
		}
		p.places[s.job.name] = data
		p.before[s.job.name] = data.Incarnation()
		if p.file == "" {
			p.file = filepath.Join(dir, progressName)
		}
	}
	if p.file == "" {
		return p, nil
	}
	if !r.settings.fresh {
		if err := p.read(); err != nil || p.resumed {
			return p, err
		}
	}
	return p, p.write()
}

// beginFrom puts the checkpoint of --from where the script's job finds it.
func (r *runner) beginFrom(sc *script) error {
	var one *job
	for _, s := range sc.steps {
		if s.job == nil || s.job.name == "" {
			continue
		}
		if one != nil {
			return &failure{status: statusUsage, err: fmt.Errorf("--from is for scripts with one job; this one has %s and %s", one.name, s.job.name)}
		}
		one = s.job
	}
	if one == nil {
		return &failure{status: statusUsage, err: errors.New("--from is for scripts with an INSERT; this one keeps nothing")}
	}
	src, err := r.settings.source(one)
	if err != nil {
		return err
	}
	data, err := r.settings.open(one, func(p runtime.Place, job string) (*runtime.Data, error) {
		return p.OpenFrom(job, src, r.settings.fresh)
	})
	if err != nil {
		return err
	}
	return data.Close()
}

// read takes over what an earlier process has noted.
func (p *progress) read() error {
	data, err := vfs.ReadFile(p.fs, p.file)
	if vfs.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	body, err := checkpoint.Unseal(progressMagic, p.file, data)
	if err != nil {
		return err
	}
	p.resumed = true
	p.before = map[string]int64{}
	return json.Unmarshal(body, &p.before)
}

func (p *progress) write() error {
	body, err := json.Marshal(p.before)
	if err != nil {
		return err
	}
	return vfs.WriteFile(p.fs, p.file, checkpoint.Seal(progressMagic, append(body, '\n')))
}

// done reports whether a job has finished in this run of the script, with the
// query that it has now.
func (p *progress) done(j *job, data *runtime.Data) bool {
	before, known := p.before[j.name]
	if !p.resumed || !known || data.Incarnation() <= before {
		return false
	}
	return data.Finished() && data.Latest().Plan == j.graph.Fingerprint()
}

// take gives a job its place, which the caller closes.
func (p *progress) take(j *job) *runtime.Data {
	data := p.places[j.name]
	delete(p.places, j.name)
	return data
}

// close gives back the places that no job has taken.
func (p *progress) close() error {
	var errs []error
	for _, data := range p.places {
		errs = append(errs, data.Close())
	}
	return errors.Join(errs...)
}

// end notes that the script has come to its end. It does not wait until that is
// durable: a process that is killed just then should have been over already,
// and after a power failure the script is at worst not run a second time.
func (p *progress) end() error {
	if p.file == "" {
		return nil
	}
	if err := p.fs.Remove(p.file); err != nil && !vfs.IsNotExist(err) {
		return err
	}
	return nil
}
