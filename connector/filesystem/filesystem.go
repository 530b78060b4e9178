// Package filesystem is the connector of files: a file, a directory, a pattern
// or standard input as a source; a directory of files that appear whole, or
// standard output, as a sink.
package filesystem

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/millstream-io/millstream/connector"
	"github.com/millstream-io/millstream/format"
	"github.com/millstream-io/millstream/types"
)

const (
	optPath          = "path"
	optMonitor       = "source.monitor-interval"
	optRegex         = "source.path.regex-pattern"
	optSplitSize     = "source.split-size"
	optMaxRecord     = "source.max-record-size"
	optDefaultName   = "partition.default-name"
	optFileSize      = "sink.rolling-policy.file-size"
	optRollover      = "sink.rolling-policy.rollover-interval"
	optCheckInterval = "sink.rolling-policy.check-interval"
	optCommitKind    = "sink.partition-commit.policy.kind"
	optSuccessName   = "sink.partition-commit.success-file.name"
	optCommitTrigger = "sink.partition-commit.trigger"
	optCommitDelay   = "sink.partition-commit.delay"
)

// Def defines the connector.
var Def = &connector.Def{
	Name: "filesystem",
	Doc: "Files. A source reads a file, all files of a directory and the directories in it, or the files that a pattern " +
		"matches; names that begin with a dot or an underscore are left out. Files whose names end in .gz, .zst, .bz2 or " +
		".deflate are decompressed. A sink writes files into a directory. A file is finished when it is large or old enough (see " +
		"sink.rolling-policy) or the job ends, and appears when the next checkpoint is complete, so that " +
		"each row is there exactly once. The path - is standard input or output.",
	Position:    metaPosition,
	Formats:     true,
	PartialRows: true,
	Options: []format.Option{
		{Name: optPath, Required: true, Doc: "the file, directory or pattern (with *, ? and [a-z]), or - for standard input or output"},
		{Name: optMonitor, Kind: format.Duration, Doc: "How often the source looks for new files; without it, the files that are there at the start are all."},
		{Name: optRegex, Doc: "A regular expression that the whole path of a file must match."},
		{Name: optSplitSize, Kind: format.Size, Default: "64 mb", Own: true,
			Doc: "Larger files are cut at line breaks and read in parallel, where the format allows it; 0 means never."},
		{Name: optMaxRecord, Kind: format.Size, Default: "64 mb", Own: true, Doc: "A longer record is an error."},
		{Name: optDefaultName, Default: "__DEFAULT_PARTITION__", Doc: "The partition of NULL and of the empty string."},
		{Name: optFileSize, Kind: format.Size, Default: "128 mb", Doc: "A file that has grown to this size is finished."},
		{Name: optRollover, Kind: format.Duration, Default: "30 min", Doc: "A file that has been open for so long is finished."},
		{Name: optCheckInterval, Kind: format.Duration, Default: "1 min",
			Doc: "Accepted for Flink's sake: the age of files is checked with each batch and at each checkpoint."},
		{Name: optCommitKind, Kind: format.Enum, Values: []string{"success-file"},
			Doc: "success-file puts an empty file _SUCCESS into a partition when files have appeared in it."},
		{Name: optSuccessName, Default: "_SUCCESS", Doc: "The name of that file."},
		{Name: optCommitTrigger, Kind: format.Enum, Default: "process-time", Values: []string{"process-time"},
			Doc: "When a partition is ready: process-time is when its files appear."},
		{Name: optCommitDelay, Kind: format.Duration, Default: "0 s", Doc: "Must be 0: a partition is ready when its files appear."},
		{Name: "auto-compaction", Kind: format.Enum, Default: "false", Values: []string{"false"}, Doc: "Must be false: small files are not merged."},
	},
	Metadata: []connector.Metadata{
		{Key: "file.path", Type: types.StringType().NotNull(), Doc: "the path of the file"},
		{Key: "file.name", Type: types.StringType().NotNull(), Doc: "its name without the directory"},
		{Key: "file.size", Type: types.Of(types.BigInt).NotNull(), Doc: "its size in bytes, compressed if it is"},
		{Key: metaPosition, Type: positionType, Doc: "where the record stands: the file and the line"},
		{Key: "file.modification-time", Type: types.TimeOf(types.TimestampLTZ, 3).NotNull(), Doc: "when it was last changed"},
	},
	NewSource: newSource,
	NewSink:   newSink,
}

func init() { connector.Register(Def) }

// layout is what source and sink have in common: which columns are in the
// files, and which in the names of directories.
type layout struct {
	table *connector.Table
	path  string
	// file are the columns in the files, and where in Physical they stand.
	file   *types.Schema
	fileAt []int
	// keys are the partition columns, in the order of PARTITIONED BY, and
	// where in Physical they stand.
	keys        []types.Field
	keyAt       []int
	defaultName string
}

func newLayout(t *connector.Table) (*layout, error) {
	l := &layout{table: t, file: types.NewSchema(), defaultName: t.Options.Text(optDefaultName)}
	var err error
	if l.path, err = localPath(t.Options.Text(optPath)); err != nil {
		return nil, err
	}
	for _, k := range t.PartitionKeys {
		i := t.Physical.Index(k)
		if i < 0 {
			return nil, fmt.Errorf("partition column %q is no column of the table", k)
		}
		f := t.Physical.Fields[i]
		if f.Type.IsNested() || f.Type.IsBinary() || f.Type.IsInterval() {
			return nil, fmt.Errorf("partition column %q: a directory's name cannot hold type %s", k, f.Type.WithNull(true))
		}
		l.keys = append(l.keys, f)
		l.keyAt = append(l.keyAt, i)
	}
	for i, f := range t.Physical.Fields {
		if l.key(i) < 0 {
			l.file.Fields = append(l.file.Fields, f)
			l.fileAt = append(l.fileAt, i)
		}
	}
	if len(l.file.Fields) == 0 {
		return nil, errors.New("all columns are partition columns; the files would be empty")
	}
	if l.path == stdio && len(l.keys) > 0 {
		return nil, errors.New("standard input and output have no partitions")
	}
	return l, nil
}

// key returns which partition column the physical column i is, or -1.
func (l *layout) key(i int) int {
	for k, at := range l.keyAt {
		if at == i {
			return k
		}
	}
	return -1
}

// stdio is the path of standard input and output.
const stdio = "-"

// localPath takes the scheme off a path.
func localPath(path string) (string, error) {
	scheme, rest, ok := strings.Cut(path, "://")
	switch {
	case path == "":
		return "", errors.New(`option "path" is empty`)
	case strings.HasPrefix(path, "file:/") && !ok:
		return strings.TrimPrefix(path, "file:"), nil
	case !ok || strings.ContainsAny(scheme, "/*?["):
		return path, nil
	case scheme == "file" && strings.HasPrefix(rest, "/"):
		return rest, nil
	}
	return "", fmt.Errorf(`option "path" is %q: only files of this machine can be read and written`, path)
}

// formatOptions are the options of the table's format, without the prefix.
func (l *layout) formatOptions() *format.Options {
	return l.table.Options.Sub(l.table.Format.Name + ".")
}

func compileRegex(t *connector.Table) (*regexp.Regexp, error) {
	p := t.Options.Text(optRegex)
	if p == "" {
		return nil, nil
	}
	re, err := regexp.Compile(`^(?:` + p + `)$`)
	if err != nil {
		return nil, fmt.Errorf("option %q: %w", optRegex, err)
	}
	return re, nil
}
