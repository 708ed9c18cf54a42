// SPDX-License-Identifier: BSD-3-Clause

// The counters of running jobs (-s), and putting the files of a trace together (-m). Both concern
// what a job has recorded.
package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"libarmci/internal/profile"
)

// showRunning prints what processes of this host have counted so far: of one pid, or of all that
// the user may read.
func showRunning(out io.Writer, pid int) error {
	all := profile.Running(pid)
	if len(all) == 0 {
		if pid != 0 {
			return fmt.Errorf("process %d does not run, is another user's, or does "+
				"not use the library", pid)
		}
		return errors.New("no process of this user and host uses the library")
	}
	counted := 0
	for _, p := range all {
		c := p.Counters
		if c == nil {
			fmt.Fprintf(out,
				"process %d (%s) counts nothing: start the job with "+
					"ARMCI_STATS=1\n", p.Pid, p.Command)
			continue
		}
		counted++
		table, by := c.Snapshot()
		elapsed := profile.Now() - c.Started
		here, there := profile.Split(by, int(c.Node))
		fmt.Fprintf(out,
			"rank %d of %d, node %d of %d, process %d (%s), %v after init: within "+
				"the node %s, to others %s\n", c.Rank, c.Ranks,
			c.Node, c.Nodes, p.Pid, p.Command,
			time.Duration(elapsed).Round(time.Millisecond),
			profile.Bytes(here.Bytes), profile.Bytes(there.Bytes))
		table.Write(out, elapsed)
	}
	if counted == 0 {
		return errors.New("no process has counters")
	}
	return nil
}

// mergeTrace puts FILE.0, FILE.1, ... of a trace together into FILE.
func mergeTrace(out io.Writer, file string) error {
	parts, err := profile.Parts(file)
	if err == nil {
		err = profile.MergeFiles(file, parts)
	}
	if err == nil {
		fmt.Fprintf(out, "%s: %d files put together\n", file, len(parts))
	}
	return err
}

// pidOf is the argument of -s, 0 without one.
func pidOf(args []string) (int, error) {
	if len(args) == 0 {
		return 0, nil
	}
	pid, err := strconv.Atoi(args[0])
	if err != nil || pid <= 0 || len(args) > 1 {
		return 0, fmt.Errorf("-s: %q is no process id", args)
	}
	return pid, nil
}
