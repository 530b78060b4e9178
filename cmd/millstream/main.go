// Command millstream runs Flink SQL.
package main

import (
	"os"

	"github.com/millstream-io/millstream/internal/cli"

	// Connectors and formats: one line each.
	_ "github.com/millstream-io/millstream/connector/blackhole"
	_ "github.com/millstream-io/millstream/connector/checksum"
	_ "github.com/millstream-io/millstream/connector/datagen"
	_ "github.com/millstream-io/millstream/connector/filesystem"
	_ "github.com/millstream-io/millstream/connector/nexmark"
	_ "github.com/millstream-io/millstream/connector/print"
	_ "github.com/millstream-io/millstream/connector/script"
	_ "github.com/millstream-io/millstream/connector/statetable"
	_ "github.com/millstream-io/millstream/format/csv"
	_ "github.com/millstream-io/millstream/format/json"
	_ "github.com/millstream-io/millstream/format/raw"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
