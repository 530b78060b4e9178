package runtime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/internal/blob"
)

// Storage says where checkpoints and savepoints are.
type Storage struct {
	// Checkpoints is where jobs keep their checkpoints, each in a directory of its
	// own; empty means the data directory. Savepoints is where savepoints are copied
	// to if nothing else is said; empty means that they are not.
	Checkpoints string `json:"checkpoints,omitempty"`
	Savepoints  string `json:"savepoints,omitempty"`
	// Endpoint, Region and PathStyle are those of blob.Options.
	Endpoint  string `json:"endpoint,omitempty"`
	Region    string `json:"region,omitempty"`
	PathStyle string `json:"pathStyle,omitempty"`
}

// Options are those for blob.Open.
func (s Storage) Options() blob.Options {
	return blob.Options{Endpoint: s.Endpoint, Region: s.Region, PathStyle: s.PathStyle}
}

const (
	optCheckpoints = "execution.checkpointing.dir"
	optSavepoints  = "execution.checkpointing.savepoint-dir"
	optEndpoint    = "s3.endpoint"
	optRegion      = "s3.region"
	optPathStyle   = "s3.path-style-access"
)

var storageOptions = []format.Option{
	{Name: optCheckpoints, Doc: "where jobs keep their checkpoints, each in a directory of its own: a path, or s3://bucket/prefix. By default that is the data directory"},
	{Name: optSavepoints, Doc: "where `millstream savepoint` copies savepoints to, if --to does not say it: a path, or s3://bucket/prefix"},
	{Name: optEndpoint, Doc: "the address of the object store, such as http://localhost:9000. By default that of AWS_ENDPOINT_URL, or AWS"},
	{Name: optRegion, Doc: "the region of the bucket. By default that of AWS_REGION, or what the store says"},
	{Name: optPathStyle, Kind: format.Enum, Values: []string{"true", "false"},
		Doc: "whether the bucket is in the path of addresses, and not in the host's name. By default it is, except at AWS"},
	{Name: "s3.path.style.access", Kind: format.Enum, Values: []string{"true", "false"}, Doc: "another name of " + optPathStyle},
	{Name: "state.checkpoints.dir", Doc: "an older name of " + optCheckpoints},
	{Name: "state.savepoints.dir", Doc: "an older name of " + optSavepoints},
}

// storageNames are the names of each option, the better one first.
var storageNames = map[string][]string{
	optCheckpoints: {optCheckpoints, "state.checkpoints.dir"},
	optSavepoints:  {optSavepoints, "state.savepoints.dir"},
	optPathStyle:   {optPathStyle, "s3.path.style.access"},
	optEndpoint:    {optEndpoint},
	optRegion:      {optRegion},
}

// credentialOptions are options of Flink that hold secrets.
var credentialOptions = []string{"s3.access-key", "s3.secret-key", "s3.access.key", "s3.secret.key", "s3.session-token",
	"fs.s3a.access.key", "fs.s3a.secret.key", "fs.s3a.session.token"}

// CheckOption refuses options with credentials: scripts and command lines are read
// by others.
func CheckOption(name string) error {
	if slices.Contains(credentialOptions, strings.ToLower(name)) {
		return fmt.Errorf("option %q would put credentials where others read them; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, "+
			"or AWS_PROFILE and a credentials file", name)
	}
	return nil
}

// NewStorage takes the options about storage; lookup is that of Config.Set.
func NewStorage(lookup func(name string) (string, bool)) Storage {
	text := func(option string) string {
		for _, name := range storageNames[option] {
			if v, ok := lookup(name); ok {
				return strings.TrimSpace(v)
			}
		}
		return ""
	}
	return Storage{
		Checkpoints: text(optCheckpoints), Savepoints: text(optSavepoints),
		Endpoint: text(optEndpoint), Region: text(optRegion), PathStyle: strings.ToLower(text(optPathStyle)),
	}
}
