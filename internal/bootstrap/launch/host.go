// SPDX-License-Identifier: BSD-3-Clause

// armcirun's side of a host with ranks of the job: the agent that starts the proxy
// there, and the proxy's connection. The proxy's side is serve.go.

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
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"libarmci/internal/bootstrap/jobserver"
	"libarmci/internal/bootstrap/jobwire"
)

const (
	attachTimeout = 60 * time.Second // from running the agent until the proxy connects
	writeTime     = 5 * time.Second
	// how long a host may be out of reach when the job has failed
	endingOutage = 2 * time.Second
)

// host is one of the job's hosts.
type host struct {
	name     string
	index    int
	ranks    []int
	agent    *exec.Cmd
	stdin    io.WriteCloser
	left     chan struct{}       // closed when the agent has ended
	arrived  chan net.Conn       // the proxy's connection
	results  chan<- *startResult // result of the start; not used afterwards
	writing  sync.Mutex          // one message to the proxy at a time
	conn     net.Conn            // nil before the proxy has connected and after it has ended
	children []*child            // as ranks
	output   func()              // writes what is left of the agent's output
}

// startResult is the result of the start on a host.
type startResult struct {
	h   *host
	err error
}

// launchMessage is sent to a proxy as a line of JSON on its standard input; not on a
// command line, since it has the job's secret. What the user may write in any bytes is no
// string: JSON has strings of UTF-8 only, and would change others.
type launchMessage struct {
	Address, Secret string
	Host, Hosts     int
	Ranks           []int // of this host
	Size            int   // of the job
	Label           bool
	Bind            string
	Reader          int           // the rank that standard input is for
	Debugged        bool          // it runs under a debugger
	Outage          time.Duration // as Remote.Outage
	Argv, Env       [][]byte
	Dir             []byte
	Stdin           bool // what follows on standard input is for a rank here
}

// openRemote decides which ranks run where, and opens the server for them.
func (j *Job) openRemote() error {
	r := &j.options.Remote
	counts, err := r.divideRanks(j.options.Ranks)
	if err != nil {
		return err
	}
	for len(counts) > 0 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	r.Hosts = r.Hosts[:len(counts)]
	listeners, err := r.listeners()
	if err != nil {
		return err
	}
	j.verbosely("hosts%s, by %s", r.sourceText(), r.Agent[0])
	j.groups = true
	for i, ranks := range dealRanks(counts, j.options.Cyclic) {
		j.hosts = append(j.hosts, &host{name: r.Hosts[i].Name, index: i, ranks: ranks,
			left: make(chan struct{}), arrived: make(chan net.Conn, 1)})
	}
	j.server = jobserver.NewRemote(j.options.Ranks, j.options.Remote.Outage, j.aborted,
		j.proxyConnected, listeners)
	return nil
}

// proxyConnected is called by the job server with a proxy's connection.
func (j *Job) proxyConnected(index int, conn net.Conn) {
	select {
	case j.hosts[index].arrived <- conn:
	default:
		conn.Close() // there is one already
	}
}

// startHosts starts the ranks of all hosts, or of none.
func (j *Job) startHosts() error {
	results := make(chan *startResult, len(j.hosts))
	var failed error
	for _, h := range j.hosts {
		h.results = results
		if failed = j.startAgent(h); failed != nil {
			break
		}
		go j.readProxy(h)
	}
	late := time.After(attachTimeout)
	for n := 0; n < len(j.hosts) && failed == nil; n++ {
		select {
		case a := <-results:
			failed = a.err
		case s := <-j.options.Signals:
			failed = Interrupted{s.(syscall.Signal)}
		case <-late:
			failed = fmt.Errorf("no answer from all hosts after %v", attachTimeout)
		}
	}
	if failed != nil {
		j.dismissProxies(true)
		return failed
	}
	for _, h := range j.hosts {
		j.children = append(j.children, h.children...)
	}
	slices.SortFunc(j.children, func(a, b *child) int { return a.rank - b.rank })
	for _, c := range j.children {
		j.verbosely("%s started", c)
	}
	j.running = len(j.children)
	close(j.started)
	return nil
}

// Interrupted is the error of Start if a signal has come meanwhile.
type Interrupted struct{ Signal syscall.Signal }

func (i Interrupted) Error() string {
	return fmt.Sprintf("received signal %d (%s)", int(i.Signal), i.Signal)
}

// startAgent runs the agent, which starts the proxy on the host, and writes its launch message.
func (j *Job) startAgent(h *host) (err error) {
	o := &j.options
	words := append(append([]string{}, o.Remote.Agent...), h.name)
	for _, word := range o.Remote.Proxy {
		if !o.Remote.NoShell {
			word = quote(word)
		}
		words = append(words, word)
	}
	h.agent = exec.Command(words[0], words[1:]...)
	if h.stdin, err = h.agent.StdinPipe(); err != nil {
		return err
	}
	// Its lines have their ranks already; they are only not to be mixed with those of other
	// hosts.
	h.output = j.lines.connect(h.agent, "", o.Stdout, o.Stderr)
	// Ctrl-C is for this process, not for the agents, which end with it.
	h.agent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := h.agent.Start(); err != nil {
		h.agent = nil
		return err
	}
	text, err := json.Marshal(j.launchMessage(h))
	stdin := o.Stdin
	if !h.hasRank(o.reader()) {
		stdin = nil
	}
	go h.write(append(text, '\n'), stdin)
	go func() {
		h.agent.Wait() // its process state is asked for
		h.output()
		close(h.left)
	}()
	return err
}

func (j *Job) launchMessage(h *host) launchMessage {
	o := &j.options
	dir, _ := os.Getwd()
	return launchMessage{Address: j.server.Addr(h.index), Secret: j.server.Secret().String(),
		Host: h.index, Hosts: len(j.hosts), Ranks: h.ranks, Size: o.Ranks, Label: o.Label,
		Bind: o.Bind, Outage: o.Remote.Outage,
		Reader: o.reader(), Debugged: o.Debug != nil, Argv: toBytes(o.Argv),
		Env: toBytes(slices.Concat(o.Remote.Env, o.Env)), Dir: []byte(dir),
		Stdin: h.hasRank(o.reader()) && o.Stdin != nil}
}

// toBytes and toStrings change the type, and no byte.
func toBytes(texts []string) (all [][]byte) {
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all
}

func toStrings(all [][]byte) (texts []string) {
	for _, bytes := range all {
		texts = append(texts, string(bytes))
	}
	return texts
}

func (h *host) hasRank(rank int) bool { return slices.Contains(h.ranks, rank) }

// quote protects a word from the remote shell that an agent may use.
func quote(word string) string {
	if strings.Trim(word,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (h *host) write(message []byte, stdin *os.File) {
	defer h.stdin.Close()
	if _, err := h.stdin.Write(message); err == nil && stdin != nil {
		io.Copy(h.stdin, stdin)
	}
}

// readProxy reads the frames of a host's proxy, until the connection ends.
func (j *Job) readProxy(h *host) {
	var conn net.Conn
	select {
	case conn = <-h.arrived:
	case <-h.left:
		h.results <- &startResult{h,
			fmt.Errorf("host %s: %s has ended before any rank was started: %s", h.name,
				j.options.Remote.Agent[0], h.agent.ProcessState)}
		return
	}
	defer conn.Close()
	h.connect(conn)
	defer h.connect(nil)
	err := h.readStartResult(conn)
	h.results <- &startResult{h, err}
	for err == nil {
		err = j.readProxyMessage(h, conn)
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("its connection has ended")
	}
	for _, c := range h.children {
		if !c.hasEnded() {
			c.lost = fmt.Sprintf("was lost with its host: %v", err)
			j.childGone(c)
		}
	}
}

func (j *Job) childGone(c *child) {
	j.events <- event{ended: c}
	close(c.ended)
}

func (h *host) connect(conn net.Conn) {
	h.writing.Lock()
	defer h.writing.Unlock()
	h.conn = conn
}

// readStartResult reads whether the ranks have been started.
func (h *host) readStartResult(conn net.Conn) error {
	f, err := jobwire.Read(conn, jobwire.Started, jobwire.StartFailed)
	if err != nil {
		return fmt.Errorf("host %s: %w", h.name, err)
	}
	numbers := jobwire.UnpackNumbers(f.Payload)
	switch {
	case f.Kind == jobwire.StartFailed && len(numbers) > 0:
		return fmt.Errorf("host %s: %s%w", h.name, f.Payload[4:], startError(numbers[0]))
	case f.Kind == jobwire.StartFailed || len(numbers) != len(h.ranks):
		return fmt.Errorf("host %s: malformed answer", h.name)
	}
	for i, pid := range numbers {
		h.children = append(h.children, &child{rank: h.ranks[i], pid: pid, host: h,
			where: h.name, ended: make(chan struct{})})
	}
	return nil
}

// startError is the kind of an error by which ranks could not be started. Its text is
// empty; the message is in the error that wraps it.
type startError int

const (
	cannotRun startError = iota
	notFound
)

func (startError) Error() string { return "" }

func (u startError) Is(target error) bool { return u == notFound && target == fs.ErrNotExist }

var errMalformed = errors.New("malformed message of its proxy")

// readProxyMessage reads from the proxy of a host that a rank has ended.
func (j *Job) readProxyMessage(h *host, conn net.Conn) error {
	f, err := jobwire.Read(conn, jobwire.Ended)
	if err != nil {
		return err
	}
	n := jobwire.UnpackNumbers(f.Payload)
	if len(n) != 2 {
		return errMalformed
	}
	at := slices.Index(h.ranks, n[0])
	if at < 0 || h.children[at].hasEnded() {
		return errMalformed
	}
	c := h.children[at]
	c.status = syscall.WaitStatus(n[1])
	j.childGone(c)
	return nil
}

// signal has the proxy signal all ranks of the host.
func (h *host) signal(s syscall.Signal) { h.writeFrame(jobwire.Signal, int(s)) }

// writeFrame sends a frame to the proxy; it does nothing if that has ended.
func (h *host) writeFrame(kind jobwire.Kind, n int) bool {
	h.writing.Lock()
	defer h.writing.Unlock()
	if h.conn == nil {
		return false
	}
	h.conn.SetWriteDeadline(time.Now().Add(writeTime))
	return jobwire.Write(h.conn, kind, jobwire.PackNumbers(n)) == nil
}

// dismissProxies ends the proxies, which end their remaining ranks, and waits for the agents, so
// that all output has arrived.
func (j *Job) dismissProxies(failed bool) {
	how := 0
	if failed {
		how = 1
	}
	var all sync.WaitGroup
	for _, h := range j.hosts {
		if h.agent != nil {
			all.Go(func() { h.endProxy(how, j.times) })
		}
	}
	all.Wait()
	for _, h := range j.hosts {
		select {
		case conn := <-h.arrived: // connected too late
			conn.Close()
		default:
		}
	}
}

// setOutage sets for how long the host may be out of reach.
func (h *host) setOutage(longest time.Duration) {
	h.writing.Lock()
	defer h.writing.Unlock()
	if h.conn != nil {
		jobwire.SetOutage(h.conn, longest)
	}
}

// endProxy asks the proxy to end its ranks and itself, and ends its agent by signals if that takes
// too long.
func (h *host) endProxy(how int, t times) {
	patience := t.asked + time.Second // that of the proxy, and some time for the network
	if !h.writeFrame(jobwire.Finish, how) {
		patience = 0
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-h.left:
			return
		case <-time.After(patience):
			syscall.Kill(-h.agent.Process.Pid, s)
		}
		patience = t.asked + time.Second
	}
	<-h.left
}
