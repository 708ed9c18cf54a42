// SPDX-License-Identifier: BSD-3-Clause

// The user's launcher: with how many ranks it starts a program, and a job by it, within a time
// limit. It knows no launcher by name: programs and settings follow its words.

package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"libarmci/internal/figure"
)

// launcher is the words that start a program as a job.
type launcher struct {
	words  []string
	at     int    // index of the word that has the number of ranks; -1: none has
	before string // what that word has before the number
	ranks  int    // that number; 0 if there is none, until the job has told it
}

// rankOptions precede the number of ranks; the last one that a launcher gets counts.
var (
	rankOption1 = regexp.MustCompile(`^(-n|-np|--np|--ntasks)$`)
	rankOption2 = regexp.MustCompile(`^(-n|-np=|--np=|--ntasks=)(\d+)$`)
)

// newLauncher finds the number of ranks in the words.
func newLauncher(words []string) launcher {
	l := launcher{words: words, at: -1}
	for i, w := range words {
		m := rankOption2.FindStringSubmatch(w)
		if m == nil && i > 0 && rankOption1.MatchString(words[i-1]) {
			m = []string{w, "", w}
		}
		if m == nil {
			continue
		}
		if n, err := strconv.Atoi(m[2]); err == nil && n > 0 {
			l.at, l.before, l.ranks = i, m[1], n
		}
	}
	return l
}

// with is the words that start so many ranks: those of the user where the number is not known.
func (l *launcher) with(n int) []string {
	words := slices.Clone(l.words)
	if l.at >= 0 {
		words[l.at] = l.before + strconv.Itoa(n)
	}
	return words
}

// atMost is the number of ranks of a job that should not have more.
func (l *launcher) atMost(n int) int {
	if l.at < 0 {
		return l.ranks
	}
	return min(l.ranks, n)
}

// job is what one start of the launcher gave.
type job struct {
	command []string
	rows    []figure.Row // figures, as workers print them
	lines   []string     // the other output
	stderr  string
	wrong   int // totals that must be exact and are not
	err     error
	took    time.Duration
	late    bool // it was ended because of its time limit
}

// run starts a program with settings, ours and more, NAME=value, on n ranks. They travel by the
// command env: not every launcher takes the environment to other hosts.
func (o *options) run(limit time.Duration, n int, more []string, program ...string) *job {
	j := &job{command: o.launcher.with(n)}
	j.command = slices.Concat(j.command, []string{"env"}, settings(), more, program)
	if o.verbose {
		fmt.Fprintln(os.Stderr, strings.Join(quoted(j.command), " "))
	}
	var stderr bytes.Buffer
	begun := time.Now()
	start := figure.Job{Argv: j.command, Limit: limit, Err: &stderr,
		Other: func(word, rest string) {
			j.lines = append(j.lines, strings.TrimRight(word+"\t"+rest, "\t"))
		}}
	j.wrong, j.err = start.Run(func(r figure.Row) { j.rows = append(j.rows, r) })
	j.took, j.stderr = time.Since(begun), stderr.String()
	j.late = j.err != nil && j.took >= limit
	return j
}

// says tells whether a line of the output begins with a text.
func (j *job) says(text string) bool {
	return slices.ContainsFunc(j.lines,
		func(line string) bool { return strings.HasPrefix(line, text) })
}

// why describes a job that did not end well: its end, and the last lines of its errors.
func (j *job) why() string {
	const most = 12
	text := "it ended with status 0, but without the line that it was right"
	switch {
	case j.late:
		text = fmt.Sprintf("it did not end within its limit, and was ended after %.0f s",
			j.took.Seconds())
	case j.err != nil:
		_, text, _ = strings.Cut(j.err.Error(), strings.Join(j.command, " ")+": ")
		if text == "" {
			text = j.err.Error()
		}
	case j.wrong > 0:
		text = "a total is not exact"
	}
	lines := strings.Split(strings.TrimSpace(j.stderr), "\n")
	return strings.TrimSpace(text + "\n" +
		strings.Join(lines[max(0, len(lines)-most):], "\n"))
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// quoted is words as a shell reads them.
func quoted(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if !plainWord.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return out
}
