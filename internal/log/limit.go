// SPDX-License-Identifier: BSD-3-Clause

// The limit of repeated messages. A program that ignores the errors of its calls would else print a
// line for each of them, faster than any terminal or file takes them. The first messages of a kind
// are printed, then one a second at most, which tells how many were left out; Flush tells of the
// rest. Messages that end the job (Lastf) have no limit.

package log

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	firstOfKind = 10          // messages of a kind that are all printed
	repeatTime  = time.Second // between two messages of a kind that has had those
)

// tally counts the messages of a kind.
type tally struct {
	kind    string    // the format of the message, or what its caller has said
	printed int       // not counted beyond firstOfKind
	omitted int       // since the latest that was printed
	last    time.Time // when that was
	text    string    // of that
}

// limiter is the tallies of all kinds. There are as many kinds as there are places in the program
// that print messages.
type limiter struct {
	now   func() time.Time // time.Now, but in tests
	mu    sync.Mutex       // guards kinds
	kinds map[string]*tally
}

var repeated = limiter{now: time.Now, kinds: map[string]*tally{}}

// admitMessage tells whether a message of a kind is to be printed, and how many of its kind have
// been left out since the one before.
func (l *limiter) admitMessage(kind string) (omitted int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.kinds[kind]
	if k == nil {
		k = &tally{kind: kind}
		l.kinds[kind] = k
	}
	now := l.now()
	if k.printed >= firstOfKind && now.Sub(k.last) < repeatTime {
		k.omitted++
		return 0, false
	}
	omitted, k.omitted = k.omitted, 0
	k.printed = min(k.printed+1, firstOfKind)
	k.last = now
	return omitted, true
}

// keepText remembers the text of a message that has been admitted, for Flush.
func (l *limiter) keepText(kind, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds[kind].text = text
}

// takeOmitted returns the kinds of which messages have been left out since the latest that was
// printed, and forgets these.
func (l *limiter) takeOmitted() (left []tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.kinds {
		if k.omitted > 0 {
			left = append(left, *k)
			k.omitted = 0
		}
	}
	slices.SortFunc(left, func(a, b tally) int { return a.last.Compare(b.last) })
	return left
}

// printLimited prints a message unless too many of its kind were printed. A message that is left
// out is not formatted.
func printLimited(l Level, label, kind, format string, args []any) {
	if int32(l) > level.Load() {
		return
	}
	omitted, ok := repeated.admitMessage(label + kind)
	if !ok {
		return
	}
	text := fmt.Sprintf(format, args...)
	repeated.keepText(label+kind, text)
	if omitted > 0 {
		text += fmt.Sprintf(" (and %d more like it)", omitted)
	}
	write(label, text)
}

// Flush prints how many messages were left out since the latest of their kind. It is called before
// a process ends.
func Flush() {
	for _, k := range repeated.takeOmitted() {
		write("", fmt.Sprintf("left out: %d more like %q", k.omitted, k.text))
	}
}
