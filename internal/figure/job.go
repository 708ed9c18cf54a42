// SPDX-License-Identifier: BSD-3-Clause

// Runs workers and reads what they print.

package figure

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// jobTime is more than any job takes; a hanging one is ended then.
const jobTime = 10 * time.Minute

// endTime is what a launcher has to end its ranks when a job takes too long.
var endTime = 12 * time.Second

// longestLine is the most bytes that a line of a job's output may have.
const longestLine = 4 << 20

// Job is one start of workers.
type Job struct {
	Title string // what the ranks run on, for Row.Where
	Argv  []string
	Env   []string      // in addition to this process's
	Limit time.Duration // 0: jobTime
	// takes lines that are no figures, and then a job need not have any; nil: they go to the
	// standard error output
	Other func(word, rest string)
	Err   io.Writer // nil: the standard error output
}

// Run starts a job and calls add for each figure. A worker's other output goes
// to the standard error output unchanged. wrong counts the totals that must be
// exact and are not.
func (j *Job) Run(add func(Row)) (wrong int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(j.Limit, jobTime))
	defer cancel()
	cmd := exec.CommandContext(ctx, j.Argv[0], j.Argv[1:]...)
	// Launchers then end their ranks; srun wants to hear it twice.
	cmd.Cancel = func() error {
		time.AfterFunc(endTime/2, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
		return cmd.Process.Signal(os.Interrupt)
	}
	cmd.WaitDelay = endTime
	cmd.Env = append(cmd.Environ(), j.Env...)
	if cmd.Stderr = j.Err; j.Err == nil {
		cmd.Stderr = os.Stderr
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	// what a launcher leaves behind must not keep this end of the pipe waiting for ever
	defer time.AfterFunc(cmp.Or(j.Limit, jobTime)+2*endTime,
		func() { pipe.Close() }).Stop()
	figures, wrong, unread := j.read(pipe, add)
	if err := cmd.Wait(); err != nil {
		return wrong, fmt.Errorf("%s: %w", strings.Join(j.Argv, " "), err)
	}
	switch {
	case unread != nil:
		err = fmt.Errorf("%s: its output: %w", strings.Join(j.Argv, " "), unread)
	case figures == 0 && j.Other == nil:
		err = fmt.Errorf("%s: no figures", strings.Join(j.Argv, " "))
	}
	return wrong, err
}

// read reads the output to its end and calls add for each figure.
func (j *Job) read(output io.Reader, add func(Row)) (figures, wrong int, err error) {
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), "\t")
		row, err := ParseRow(rest)
		switch {
		case word == "PERF" && err == nil:
			row.Where = j.Title
			figures++
			add(row)
		case word == "CHECK" && strings.HasSuffix(rest, "\tok"):
		case word == "CHECK":
			wrong++
			fallthrough
		case j.Other == nil:
			fmt.Fprintln(os.Stderr, lines.Text())
		default:
			j.Other(word, rest)
		}
	}
	if err = lines.Err(); errors.Is(err, os.ErrClosed) {
		return figures, wrong, nil // what the launcher has left behind is not waited for
	}
	if err != nil {
		_, _ = io.Copy(io.Discard, output) // so that the job ends by itself
	}
	return figures, wrong, err
}

// libraryLine is a line of the library: rank and node come first.
var libraryLine = regexp.MustCompile(`(?m)^\[\d+@[^]]+\] .*`)

// LibrarySays returns the first line of the library in the error output of a job; "" if there is
// none. A preloaded library that cannot start says why and leaves the windows to the MPI, which
// must not be measured as ours.
func LibrarySays(stderr []byte) string { return string(libraryLine.Find(stderr)) }

// Beside finds a file relative to the directory of this program.
func Beside(names ...string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", err
	}
	path := filepath.Join(append([]string{filepath.Dir(self)}, names...)...)
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	return path, nil
}

// WriteFile writes a file through a buffer and reports the first error of all.
func WriteFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	err = write(w)
	if e := w.Flush(); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
