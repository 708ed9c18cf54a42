// SPDX-License-Identifier: BSD-3-Clause

// Output by whole lines: each begins with its rank, and lines of several ranks are never mixed.

package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// mostLine is how much is kept of a line whose end does not come.
const mostLine = 1 << 20

// outputWait is how long output is waited for behind the end of a rank, when something that it has
// started still has the pipe.
const outputWait = time.Second

// lines writes whole lines to a file, each behind a prefix. What is left at the end gets a line of
// its own.
type lines struct {
	to     io.Writer
	mu     *sync.Mutex // of all who write there
	prefix string
	rest   []byte
}

// Write never fails: a rank is not to notice that its output cannot be written.
func (l *lines) Write(data []byte) (int, error) {
	l.rest = append(l.rest, data...)
	end := bytes.LastIndexByte(l.rest, '\n') + 1
	if end == 0 && len(l.rest) > mostLine {
		l.rest = append(l.rest, '\n')
		end = len(l.rest)
	}
	l.put(l.rest[:end])
	l.rest = append(l.rest[:0], l.rest[end:]...)
	return len(data), nil
}

// close writes what has no end.
func (l *lines) close() {
	if len(l.rest) > 0 {
		l.put(append(l.rest, '\n'))
	}
	l.rest = nil
}

func (l *lines) put(text []byte) {
	if len(text) == 0 {
		return
	}
	var out []byte
	for line := range bytes.Lines(text) {
		out = append(append(out, l.prefix...), line...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to.Write(out)
}

// output is where labelled lines go; one for each job here, one for each proxy.
type output struct{ out, err sync.Mutex }

// connect gives a command its standard output and error, written by lines unless there is no
// output. The function it returns is called when the command has ended.
func (o *output) connect(cmd *exec.Cmd, prefix string, stdout, stderr *os.File) (ended func()) {
	if o == nil {
		if stdout != nil { // a nil *os.File in an interface would not be nil
			cmd.Stdout = stdout
		}
		if stderr != nil {
			cmd.Stderr = stderr
		}
		return func() {}
	}
	var all []*lines
	open := func(to *os.File, mu *sync.Mutex) io.Writer {
		l := &lines{to: to, mu: mu, prefix: prefix}
		all = append(all, l)
		return l
	}
	if stdout != nil {
		cmd.Stdout = open(stdout, &o.out)
	}
	if stderr != nil {
		cmd.Stderr = open(stderr, &o.err)
	}
	cmd.WaitDelay = outputWait
	return func() {
		for _, l := range all {
			l.close()
		}
	}
}

// label is the prefix of a rank's lines.
func label(rank int) string { return fmt.Sprintf("[%d] ", rank) }
