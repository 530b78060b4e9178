package main

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed queries/*.sql
var ownQueries embed.FS

// defaultQueries are run when none is named.
var defaultQueries = []string{"q0", "q1", "q2", "q14", "q22", "q5", "q8", "q11", "q12", "tumble", "json0", "json2", "csv0"}

// sameAnswer names the query of the workload that has the same rows as one over a file of the workload's bids.
var sameAnswer = map[string]string{"json0": "q0", "json2": "q2", "csv0": "q0"}

// A query is a script that both engines run as it is, but for the words in ${ }.
type query struct {
	name string
	file string // absolute
}

// findQuery looks a query up in the shared workload, then among our own, which it puts into the scratch folder, with
// so many keys where they speak of ${keys}; 0 means a quarter of the events.
func findQuery(shared, scratch, name string, keys int64) (query, error) {
	file := filepath.Join(shared, "queries", name+".sql")
	if _, err := os.Stat(file); err == nil {
		return query{name, file}, nil
	}
	text, err := ownQueries.ReadFile("queries/" + name + ".sql")
	if err != nil {
		return query{}, badUsage("there is no query %q in %s, nor in bench/queries", name, filepath.Dir(file))
	}
	number := "${events} / 4"
	if keys > 0 {
		number = strconv.FormatInt(keys, 10)
	}
	file = filepath.Join(scratch, name+".sql")
	return query{name, file}, os.WriteFile(file, bytes.ReplaceAll(text, []byte("${keys}"), []byte(number)), 0o644)
}

// format is that of the file that the query reads; "" if it reads generated events.
func (q query) format() string {
	for _, f := range []string{"json", "csv"} {
		if strings.HasPrefix(q.name, f) {
			return f
		}
	}
	return ""
}

var word = regexp.MustCompile(`\$\{([a-z-]+)\}`)

// fill puts values in the place of words.
func fill(text string, words map[string]string) (string, error) {
	var unknown []string
	filled := word.ReplaceAllStringFunc(text, func(w string) string {
		v, ok := words[w[2:len(w)-1]]
		if !ok && !slices.Contains(unknown, w) {
			unknown = append(unknown, w)
		}
		return v
	})
	if unknown != nil {
		return "", fmt.Errorf("it has words that have no value: %s", strings.Join(unknown, ", "))
	}
	return filled, nil
}
