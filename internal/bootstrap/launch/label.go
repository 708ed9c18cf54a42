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

// maxLine is how many bytes are kept of a line without an end.
const maxLine = 1 << 20

// outputWait is how long output is waited for behind the end of a rank, when something that it has
// started still has the pipe.
const outputWait = time.Second

// lines writes whole lines to a file, each behind a prefix. An incomplete last line gets an end of
// its own.
type lines struct {
	to         io.Writer
	mu         *sync.Mutex // of all writers to that file
	prefix     string
	unfinished []byte
}

// Write never fails: a rank is not to notice that its output cannot be written.
func (l *lines) Write(data []byte) (int, error) {
	l.unfinished = append(l.unfinished, data...)
	end := bytes.LastIndexByte(l.unfinished, '\n') + 1
	if end == 0 && len(l.unfinished) > maxLine {
		l.unfinished = append(l.unfinished, '\n')
		end = len(l.unfinished)
	}
	l.writeLines(l.unfinished[:end])
	l.unfinished = append(l.unfinished[:0], l.unfinished[end:]...)
	return len(data), nil
}

// close writes an incomplete last line.
func (l *lines) close() {
	if len(l.unfinished) > 0 {
		l.writeLines(append(l.unfinished, '\n'))
	}
	l.unfinished = nil
}

// writeLines writes whole lines, each with the prefix. It locks mu.
func (l *lines) writeLines(text []byte) {
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
type output struct {
	out, err sync.Mutex // one line at a time
}

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
