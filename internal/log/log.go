// SPDX-License-Identifier: BSD-3-Clause

// Package log writes the library's messages to standard error: one line per
// message, `[rank@host] text`, each in one write so that lines of several ranks
// do not mix. It must not import another package of the project, and must never
// be called on the data path.
package log

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// Level says which messages are printed.
type Level int32

// Levels; each prints its own messages and those before it.
const (
	LevelError Level = iota
	LevelWarn        // the default
	LevelInfo        // what ARMCI_VERBOSE asks for
)

var (
	level  atomic.Int32
	prefix atomic.Pointer[string]
	sink   atomic.Pointer[func([]byte)]
	once   sync.Map // key -> struct{}
)

func init() { level.Store(int32(LevelWarn)) }

// SetLevel sets which messages are printed from now on.
func SetLevel(l Level) { level.Store(int32(l)) }

// SetIdentity sets what the prefix says; until then it is `[?@host]`, with the
// host's own name.
func SetIdentity(rank int, host string) {
	p := fmt.Sprintf("[%d@%s] ", rank, host)
	prefix.Store(&p)
}

// SetSink sends the lines elsewhere than to standard error, for tests; the
// returned function restores the former sink.
func SetSink(write func(line []byte)) (restore func()) {
	former := sink.Swap(&write)
	return func() { sink.Store(former) }
}

// Errorf prints a message about something that failed, unless there are too many with the same
// format (limit.go).
func Errorf(format string, args ...any) { printLimited(LevelError, "", format, format, args) }

// ErrorOfKind is Errorf for messages whose kind is not their format.
func ErrorOfKind(kind, format string, args ...any) {
	printLimited(LevelError, "", kind, format, args)
}

// Warnf prints a message about something that is probably not as intended, with the same limit.
func Warnf(format string, args ...any) { printLimited(LevelWarn, warning, format, format, args) }

// Lastf prints why the job ends, after what is left to be told of repeated messages. It has no
// limit.
func Lastf(format string, args ...any) {
	Flush()
	printAt(LevelError, "", format, args)
}

// Infof prints a message that is only wanted when asked for (LevelInfo).
func Infof(format string, args ...any) { printAt(LevelInfo, "", format, args) }

// Tracef prints what was asked for call by call, whatever the level.
func Tracef(format string, args ...any) { printAt(LevelError, "", format, args) }

// WarnOnce prints a warning the first time it is called with this key.
func WarnOnce(key, format string, args ...any) {
	if _, seen := once.LoadOrStore(key, struct{}{}); !seen {
		printAt(LevelWarn, warning, format, args)
	}
}

// warning begins the text of every warning.
const warning = "warning: "

// Line returns the text of a message as it would be printed, for callers that print it by other
// means.
func Line(format string, args ...any) string {
	return string(formatLine("", fmt.Sprintf(format, args...)))
}

// printAt prints a message if its level is wanted.
func printAt(l Level, label, format string, args []any) {
	if int32(l) <= level.Load() {
		write(label, fmt.Sprintf(format, args...))
	}
}

// write prints a message.
func write(label, text string) {
	line := formatLine(label, text)
	if to := sink.Load(); to != nil {
		(*to)(line)
		return
	}
	writeAll(2, line)
}

// formatLine gives every line of the text the prefix. All lines of one message are
// one buffer, so that they stay together.
func formatLine(kind, text string) []byte {
	p := prefix.Load()
	if p == nil {
		unknown := "[?@" + hostname() + "] "
		p = &unknown
	}
	var out bytes.Buffer
	for line := range bytes.Lines([]byte(kind + text)) {
		out.WriteString(*p)
		out.Write(bytes.TrimRight(line, "\n"))
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// writeAll writes without a Go file object, so that nothing is buffered, locked
// or closed when the process is about to end. A broken standard error is not
// worth an error of its own.
func writeAll(fd int, b []byte) {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		b = b[n:]
	}
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "?"
	}
	return name
}
