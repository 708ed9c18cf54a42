// SPDX-License-Identifier: BSD-3-Clause

// The proxy: armcirun runs it on each host. It starts, watches and ends the ranks
// there; it ends them also when armcirun is gone.

package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"libarmci/internal/bootstrap/jobserver"
	"libarmci/internal/bootstrap/jobwire"
)

const maxMessage = 16 << 20 // bytes

// proxy is the state of Serve.
type proxy struct {
	message  launchMessage
	secret   jobwire.Secret
	conn     net.Conn
	writing  sync.Mutex // one message at a time
	children []*child
	waiting  sync.WaitGroup
}

// Serve runs the proxy: it reads its launch message from standard input, and returns the
// exit status.
func Serve(report io.Writer) int {
	runtime.LockOSThread() // the ranks are killed when this thread ends
	s := &proxy{}
	failed, err := false, s.connectToLauncher(os.Stdin)
	if err == nil {
		defer s.conn.Close()
		failed, err = s.serve()
	}
	status := 0
	if err != nil {
		host, _ := os.Hostname()
		// now: armcirun does not wait long
		fmt.Fprintf(report, "armcirun: on %s: %v\n", host, err)
		status = 1
	}
	s.endRemaining(failed)
	return status
}

// connectToLauncher reads the launch message and connects to armcirun.
func (s *proxy) connectToLauncher(stdin *os.File) (err error) {
	line, err := readLine(stdin)
	if err == nil {
		err = json.Unmarshal(line, &s.message)
	}
	if err == nil {
		s.secret, err = jobwire.ParseSecret(s.message.Secret)
	}
	if err != nil {
		return fmt.Errorf("the launch message of armcirun: %w", err)
	}
	m := &s.message
	if s.conn, err = jobwire.Join(m.Address, attachTimeout/2, s.secret, jobwire.Attach, m.Host,
		m.Hosts); err != nil {
		return fmt.Errorf("connect to armcirun: %w", err)
	}
	return jobwire.SetOutage(s.conn, m.Outage)
}

// readLine reads no byte beyond the line: these are for the rank that reads it.
func readLine(f *os.File) (line []byte, err error) {
	b := make([]byte, 1)
	for len(line) < maxMessage {
		if _, err := io.ReadFull(f, b); err != nil {
			return nil, err
		}
		if b[0] == '\n' {
			return line, nil
		}
		line = append(line, b[0])
	}
	return nil, errors.New("too long")
}

// serve starts the ranks and waits until armcirun sends Finish or is gone; sweep ends the ranks.
func (s *proxy) serve() (failed bool, err error) {
	if err := s.startAll(); err != nil {
		kind := cannotRun
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
			kind = notFound
		}
		text := []byte(err.Error())
		s.writeFrame(jobwire.StartFailed, append(jobwire.PackNumbers(int(kind)),
			text[:min(len(text), 1000)]...))
		jobwire.Read(s.conn, jobwire.Finish) // it has been read
		return false, nil
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		<-ends
		s.conn.Close() // handled as if armcirun were gone
	}()
	return s.forwardUntilFinish()
}

// writeFrame sends a frame to armcirun. An error is noticed by the goroutine that reads.
func (s *proxy) writeFrame(kind jobwire.Kind, payload []byte) {
	s.writing.Lock()
	defer s.writing.Unlock()
	jobwire.Write(s.conn, kind, payload) // an error is noticed by the reader
}

// startAll starts the ranks of this host and reports their process ids, and later their ends.
func (s *proxy) startAll() error {
	o := &s.message
	if err := os.Chdir(string(o.Dir)); err != nil {
		return err
	}
	for _, e := range toStrings(o.Env) { // the program is looked up with it, too
		if name, value, found := strings.Cut(e, "="); found {
			os.Setenv(name, value)
		}
	}
	places, release, err := bindings(o.Bind, len(o.Ranks))
	if err != nil {
		return err
	}
	defer release()
	spec := spec{argv: toStrings(o.Argv), reader: o.Reader, debugged: o.Debugged,
		stdout: os.Stdout, stderr: os.Stderr,
		group: true}
	if o.Label {
		spec.lines = &output{}
	}
	if o.Stdin {
		spec.stdin = os.Stdin
	}
	pids := []int{}
	for i, rank := range o.Ranks {
		c, err := spec.start(rank, places[i], jobserver.Env(o.Address, s.secret, rank,
			o.Size)...)
		if err != nil {
			endAll(s.children)
			return err
		}
		s.children = append(s.children, c)
		pids = append(pids, c.pid)
	}
	s.writeFrame(jobwire.Started, jobwire.PackNumbers(pids...))
	for _, c := range s.children {
		s.waiting.Go(func() {
			if c.wait(); c.status != 0 {
				jobwire.SetOutage(s.conn, endingOutage)
			}
			s.writeFrame(jobwire.Ended, jobwire.PackNumbers(c.rank, int(c.status)))
		})
	}
	return nil
}

// forwardUntilFinish passes signals on to the ranks until armcirun sends Finish.
func (s *proxy) forwardUntilFinish() (failed bool, err error) {
	for {
		f, err := jobwire.Read(s.conn, jobwire.Signal, jobwire.Finish)
		if err != nil {
			return true, fmt.Errorf("the connection to armcirun has ended (%w): "+
				"ending its ranks here", err)
		}
		n := jobwire.UnpackNumbers(f.Payload)
		switch {
		case len(n) != 1:
			return true, errors.New("malformed message of armcirun")
		case f.Kind == jobwire.Finish:
			return n[0] != 0, nil
		}
		signalAll(s.children, syscall.Signal(n[0]))
	}
}

// endRemaining ends the processes of a failed job; of a successful one none are left.
func (s *proxy) endRemaining(failed bool) {
	if failed {
		signalAll(s.children, syscall.SIGTERM)
		awaitGroups(s.children, usualTimes.asked)
		signalAll(s.children, syscall.SIGKILL)
	}
	s.waiting.Wait()
	removeFiles(s.children)
}
