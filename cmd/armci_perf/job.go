// SPDX-License-Identifier: BSD-3-Clause

// Runs jobs, reads what the workers print and hands the figures on. A worker's
// other output goes to the standard error output unchanged.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// jobTime is more than any job takes; a hanging one is ended then.
const jobTime = 10 * time.Minute

// run carries a command line out. ok is false if a job failed, a figure is
// missing or a total is wrong.
func run(o options, out io.Writer) (ok bool, err error) {
	bars, err := loadBars(o.barFile)
	if err != nil {
		return false, err
	}
	dir := o.workers
	if dir == "" {
		if dir, err = beside(filepath.Join("..", "libexec", "armci", "perf-none")); err != nil {
			return false, fmt.Errorf("%w; say -workers DIRECTORY", err)
		}
		dir = filepath.Dir(dir)
	}
	jobs, err := plan(&o, dir)
	if err != nil {
		return false, err
	}
	r := &report{out: out, bars: bars}
	ok = true
	for _, j := range jobs {
		if o.verbose {
			fmt.Fprintln(os.Stderr, strings.Join(append(j.env, j.argv...), " "))
		}
		if err := j.run(r); err != nil {
			fmt.Fprintf(os.Stderr, "armci_perf: %s: %v\n", strings.Join(j.argv, " "), err)
			ok = false
		}
	}
	r.finish()
	if o.csv != "" {
		err = writeFile(o.csv, func(w io.Writer) { writeCSV(w, r.rows) })
	}
	if err == nil && o.markdown != "" {
		err = writeFile(o.markdown, func(w io.Writer) { writeMarkdown(w, r.rows) })
	}
	if err == nil && o.svg != "" {
		err = drawAll(o.svg, r.rows)
	}
	return ok && r.wrong == 0, err
}

// run starts the job, passes its figures to r and checks that none is missing.
func (j *job) run(r *report) error {
	ctx, cancel := context.WithTimeout(context.Background(), jobTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, j.argv[0], j.argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // launchers then end their ranks
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(cmd.Environ(), j.env...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	seen := j.read(pipe, r)
	if err := cmd.Wait(); err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Clone(j.expect), func(op string) bool { return seen[op] })
	if len(missing) > 0 {
		return fmt.Errorf("no figure for %s", strings.Join(missing, ", "))
	}
	return nil
}

// read takes the worker's lines and tells which operations had figures.
func (j *job) read(pipe io.Reader, r *report) map[string]bool {
	seen := map[string]bool{}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		switch word, rest, _ := strings.Cut(lines.Text(), "\t"); word {
		case "PERF":
			row, err := parseRow(rest)
			if err != nil {
				fmt.Fprintf(os.Stderr, "armci_perf: %v\n", err)
				continue
			}
			row.Where = j.title
			seen[row.Op] = true
			r.add(row)
		case "CHECK":
			r.check(rest)
		default:
			fmt.Fprintln(os.Stderr, lines.Text())
		}
	}
	return seen
}

// writeFile writes a file through a buffer and reports the first error of all.
func writeFile(path string, write func(io.Writer)) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	write(w)
	err = w.Flush()
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
