// SPDX-License-Identifier: BSD-3-Clause

// The lines of PMI-1: "cmd=NAME key=value ...". A process sends one line and reads its answer
// before it sends the next. The socket is the launcher's, and an MPI in this process may have to
// use it after us: its flags stay as they are, so all calls say themselves that they do not block.

package pmi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxRequest limits a line that is sent, with its end: some launchers have a buffer of so
	// many bytes.
	maxRequest = 1024
	// maxAnswer limits a line that is read. No answer is nearly so long.
	maxAnswer = 64 << 10
	forever   = time.Duration(-1)
)

// answer is a line of the launcher: its values by their keys.
type answer map[string]string

// wire is the socket to the launcher.
type wire struct {
	fd     int
	unread []byte // bytes behind the line that was read last
}

// request sends a line and reads the answer, which is to be the command want. An answer that tells
// of a failure is an error.
func (w *wire) request(line, want string, limit time.Duration) (answer, error) {
	if err := w.send(line); err != nil {
		return nil, err
	}
	return w.expect(want, limit)
}

// send sends a line, which is short enough for the socket to take it at once.
func (w *wire) send(line string) error {
	if len(line) >= maxRequest {
		return fmt.Errorf("a request of %d bytes is longer than launchers take", len(line))
	}
	for {
		n, err := unix.SendmsgN(w.fd, []byte(line+"\n"), nil, nil,
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN, err == nil && n <= len(line):
			return errors.New("the launcher does not read what it is sent")
		case err != nil:
			return socketError(err)
		default:
			return nil
		}
	}
}

// expect reads the next line, which is to be the command want.
func (w *wire) expect(want string, limit time.Duration) (answer, error) {
	line, err := w.readLine(limit)
	if err != nil {
		return nil, err
	}
	a, err := parseAnswer(line)
	if err != nil {
		return nil, err
	}
	if a["cmd"] != want {
		return nil, fmt.Errorf("the launcher answers %s where cmd=%s was expected",
			quoted(line), want)
	}
	if rc := a["rc"]; rc != "" && rc != "0" {
		return nil, refusal(line)
	}
	return a, nil
}

// refusal is the error of an answer that tells of a failure.
type refusal string

func (r refusal) Error() string { return "the launcher answers " + quoted(string(r)) }

// readLine reads up to the end of a line, within that time.
func (w *wire) readLine(limit time.Duration) (string, error) {
	end := time.Now().Add(limit)
	for {
		if line, rest, found := bytes.Cut(w.unread, []byte("\n")); found {
			w.unread = rest
			return string(line), nil
		}
		if len(w.unread) > maxAnswer {
			return "", fmt.Errorf("the launcher answers a line of more than %d KiB",
				maxAnswer>>10)
		}
		wait := -1
		if limit != forever {
			wait = int(max(0, time.Until(end)+time.Millisecond-1).Milliseconds())
		}
		if err := w.receive(wait); err != nil {
			return "", err
		}
	}
}

// receive waits so many milliseconds for bytes, -1 for ever, and adds them to those unread.
func (w *wire) receive(wait int) error {
	ready := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}
	switch n, err := unix.Poll(ready, wait); {
	case err == unix.EINTR:
		return nil
	case err != nil:
		return socketError(err)
	case n == 0:
		return errors.New("the launcher does not answer in time (ARMCI_TIMEOUT)")
	}
	var b [4096]byte
	n, _, err := unix.Recvfrom(w.fd, b[:], unix.MSG_DONTWAIT)
	switch {
	case err == unix.EINTR || err == unix.EAGAIN:
		return nil
	case err != nil:
		return socketError(err)
	case n == 0:
		return socketError(io.EOF)
	}
	w.unread = append(w.unread, b[:n]...)
	return nil
}

// socketError says what an error of the socket means.
func socketError(err error) error {
	switch err {
	case unix.EBADF, unix.ENOTSOCK:
		return fmt.Errorf("the launcher's socket was closed before this process began, or "+
			"in it: %w", err)
	case io.EOF, unix.EPIPE, unix.ECONNRESET:
		return fmt.Errorf("the launcher has closed its connection: %w", err)
	}
	return fmt.Errorf("the launcher's socket: %w", err)
}

// parseAnswer reads a line. Values have no spaces; a message may, its later words are lost.
func parseAnswer(line string) (answer, error) {
	a := answer{}
	for _, word := range strings.Fields(line) {
		key, value, _ := strings.Cut(word, "=")
		if _, again := a[key]; !again {
			a[key] = value
		}
	}
	if !strings.HasPrefix(line, "cmd=") {
		return nil, fmt.Errorf("the launcher answers %s, which is not a line of PMI-1",
			quoted(line))
	}
	return a, nil
}

// number returns the value of a key, which is to be a number of at least low.
func (a answer) number(key string, low int) (int, error) {
	n, err := strconv.Atoi(a[key])
	if err != nil || n < low {
		return 0, fmt.Errorf("the launcher answers %s=%s to PMI-1", key, quoted(a[key]))
	}
	return n, nil
}

// quoted is the beginning of what a launcher has said, for a message.
func quoted(text string) string {
	if len(text) > 120 {
		return strconv.Quote(text[:120]) + "..."
	}
	return strconv.Quote(text)
}
