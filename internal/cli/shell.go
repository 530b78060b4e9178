package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/millstream-io/millstream/internal/sql/parse"
	"github.com/millstream-io/millstream/internal/sql/session"
)

func newShell(p *process) *cobra.Command {
	var s settings
	c := &cobra.Command{
		Use:   "sql [FILE|-]",
		Short: "run statements as they are typed",
		Long: "Reads statements from a terminal, a pipe or a file, and runs each as soon as its semicolon is there. An error does not end the shell, and Ctrl-C ends the " +
			"query, not the shell. `exit` ends it. An INSERT keeps checkpoints only if SET 'pipeline.name' has given its job a name.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return p.shell(args, &s) },
	}
	s.jobFlags(c)
	return c
}

// shell reads statements and runs them one by one.
type shell struct {
	*process
	runner  *runner
	planner *planner
	in      *bufio.Reader
	// name stands before the place of errors; a terminal has none.
	name string
	// prompts is set on a terminal.
	prompts bool
	// discard is set by Ctrl-C at the prompt: what was typed so far is void.
	discard atomic.Bool
	// status is that of the first statement that failed.
	status int
}

func (p *process) shell(args []string, s *settings) error {
	in, name := p.stdin, "stdin"
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		in, name = f, args[0]
	}
	if s.output == "" {
		s.output = "table"
	}
	form, err := s.form(true)
	if err != nil {
		return err
	}
	options, err := s.options()
	if err != nil {
		return err
	}
	scr := &screen{stdout: p.stdout, stderr: p.stderr, live: isTerminal(p.stderr)}
	ses, err := session.New(session.Config{Options: options, Shared: s.shared(), Stdin: strings.NewReader(""), Stdout: scr.out(), Stderr: scr.err(), MeasureState: measureSample})
	if err != nil {
		return err
	}
	sh := &shell{
		process: p, in: bufio.NewReader(in), name: name, prompts: isTerminal(in),
		runner:  &runner{screen: scr, settings: s, form: form},
		planner: newPlanner(ses, outputForm{form, scr.out()}),
	}
	if sh.prompts {
		sh.name = ""
	}
	defer onSignals(sh.signal)()
	return sh.loop()
}

// signal handles Ctrl-C, which ends what runs, or else what was typed so far,
// and SIGTERM, which ends the shell.
func (sh *shell) signal(s os.Signal) {
	switch {
	case s == syscall.SIGTERM || !sh.prompts:
		sh.runner.signal(s)
	case !sh.runner.stopJob():
		sh.discard.Store(true)
		fmt.Fprint(sh.stderr, "\n"+prompt)
	}
}

const (
	prompt     = "millstream> "
	promptMore = "         -> "
)

func (sh *shell) loop() error {
	var text strings.Builder
	before := 0 // lines before text
	for !sh.runner.stopped.Load() {
		sh.prompt(strings.TrimSpace(text.String()) != "")
		line, err := sh.in.ReadString('\n')
		if sh.discard.Swap(false) {
			before += strings.Count(text.String(), "\n")
			text.Reset()
		}
		if strings.TrimSpace(text.String()) == "" {
			word := command(line)
			if word == "exit" || word == "quit" {
				break
			}
			if word == "help" {
				fmt.Fprint(sh.stdout, shellHelp)
				before++
				continue
			}
		}
		text.WriteString(line)
		for {
			stmt, rest, ok := cutStatement(text.String())
			if !ok {
				break
			}
			sh.run(stmt, before)
			before += strings.Count(stmt, "\n")
			text.Reset()
			text.WriteString(rest)
		}
		if errors.Is(err, io.EOF) {
			sh.run(text.String(), before)
			break
		}
		if err != nil {
			return err
		}
	}
	if sh.prompts {
		fmt.Fprintln(sh.stderr)
		return nil
	}
	if sh.status != statusDone {
		return &failure{status: sh.status}
	}
	return nil
}

func (sh *shell) prompt(more bool) {
	switch {
	case !sh.prompts:
	case more:
		fmt.Fprint(sh.stderr, promptMore)
	default:
		fmt.Fprint(sh.stderr, prompt)
	}
}

// command returns a line as one word of the shell, which needs no semicolon.
func command(line string) string {
	return strings.ToLower(strings.TrimRight(strings.TrimSpace(line), "; "))
}

const shellHelp = `Statements end with a semicolon:
  CREATE TABLE t (...) WITH (...);   declares a table, by its connector and format
  CREATE VIEW v AS SELECT ...;       names a query
  SELECT ...;                        runs a query and shows its rows; Ctrl-C ends it
  INSERT INTO t SELECT ...;          runs a query into a table
  EXPLAIN SELECT ...;                shows how a query would run
  SHOW TABLES; DESCRIBE t;           lists tables; shows the columns of one
  SHOW FUNCTIONS; SET;               lists functions; lists the options that are set
  SET 'option' = 'value';            sets an option
help, exit and quit need no semicolon.
`

// run plans and runs one statement; before is the number of lines in front of
// it.
func (sh *shell) run(text string, before int) {
	if sh.prompts {
		before = 0
		text = strings.TrimLeft(text, " \t\r\n")
	}
	stmts, errs := parse.Script(strings.Repeat("\n", before) + text)
	if len(errs) > 0 {
		sh.complain(&scriptErrors{sh.name, errs})
		return
	}
	for _, stmt := range stmts {
		sc := &script{file: sh.name}
		sh.planner.script = sc
		sh.planner.statement(stmt)
		sh.planner.flush()
		sh.warn(sc)
		if err := sc.err(); err != nil {
			sh.complain(err)
			continue
		}
		if err := sh.runner.steps(sc); err != nil {
			sh.complain(err)
			continue
		}
		sh.say(sc)
	}
}

// say tells on a terminal that a statement is done.
func (sh *shell) say(sc *script) {
	if !sh.prompts {
		return
	}
	for _, st := range sc.steps {
		if st.job != nil && st.job.result != nil {
			n := st.job.result.rows
			fmt.Fprintf(sh.stderr, "%d %s\n", n, plural(n, "row"))
		}
	}
	if len(sc.steps) == 0 {
		fmt.Fprintln(sh.stderr, "OK")
	}
}

func plural(n int64, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func (sh *shell) complain(err error) {
	sh.report(err)
	if sh.status == statusDone {
		sh.status = statusOf(err)
	}
}

// cutStatement cuts the first whole statement off, with its semicolon. In a
// statement set, the semicolon behind END counts.
func cutStatement(text string) (stmt, rest string, ok bool) {
	depth := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '`' || c == '"':
			i = skipQuoted(text, i)
		case strings.HasPrefix(text[i:], "--"):
			i = skipTo(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			i = skipTo(text, i+2, "*/")
		case c == ';' && depth == 0:
			return text[:i+1], text[i+1:], true
		case isWordByte(c):
			end := i
			for end < len(text) && isWordByte(text[end]) {
				end++
			}
			depth = nesting(depth, strings.ToUpper(text[i:end]))
			i = end
		default:
			i++
		}
	}
	return "", text, false
}

// nesting follows BEGIN and CASE, which END closes.
func nesting(depth int, word string) int {
	switch word {
	case "BEGIN", "CASE":
		return depth + 1
	case "END":
		return max(depth-1, 0)
	}
	return depth
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func skipQuoted(text string, i int) int {
	return skipTo(text, i+1, text[i:i+1])
}

// skipTo returns the place behind the next end, or the end of the text.
func skipTo(text string, i int, end string) int {
	if n := strings.Index(text[min(i, len(text)):], end); n >= 0 {
		return i + n + len(end)
	}
	return len(text)
}
