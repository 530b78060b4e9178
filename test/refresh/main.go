// Command refresh takes over test cases from another folder: new and changed
// files are copied, files that went away are removed. A script or a case that
// says "flink: differs" in the project's copy keeps the project's answer.
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: refresh FROM TO")
		os.Exit(2)
	}
	if err := refresh(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "refresh:", err)
		os.Exit(1)
	}
}

func refresh(from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if err := copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
		if err := removeGone(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies the files of a folder that are not there or differ.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if rel == "answer" || differs(target) {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if old, err := os.ReadFile(target); err == nil && bytes.Equal(old, data) {
			return nil
		}
		fmt.Println("updated", target)
		return os.WriteFile(target, data, 0o644)
	})
}

// differs reports whether the project's copy has an answer of its own: the
// script itself says so, or the job.sql of its case folder.
func differs(path string) bool {
	for _, f := range []string{path, filepath.Join(filepath.Dir(path), "job.sql")} {
		data, err := os.ReadFile(f)
		if err == nil && (bytes.HasPrefix(data, []byte("# flink: differs")) || bytes.Contains(data, []byte("\n# flink: differs")) ||
			bytes.Contains(data, []byte("-- flink: differs"))) {
			return true
		}
	}
	return false
}

func removeGone(from, to string) error {
	return filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(to, path)
		if _, err := os.Stat(filepath.Join(from, rel)); err == nil || strings.HasPrefix(rel, "own") {
			return nil
		}
		fmt.Println("removed", path)
		return os.Remove(path)
	})
}
