// SPDX-License-Identifier: BSD-3-Clause

// Package tcp is the fabric over any IP network: sockets that carry frames between the processes of
// a job. It must not know what frames mean, and must never wait inside Go's network poller.
//
// This file has the driver, and the fabric of a process, which is opened, connects and is closed.
// It also has the waiting for many sockets: an epoll for the connections of a data server, and one
// for those of an origin, by which the progress thread waits. The latter always reports
// connections that are lost, and reports input after Attend.
package tcp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/sys"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// Options are the settings of this fabric alone. They are named in docs/configuration.md.
type Options struct {
	// name or CIDR of the interface to use; "" = the route to the peers
	Interface string
	Ports     string // "low-high", to listen at; "" = any
	// name of the congestion control; "", "auto": the system's unless it paces
	Congestion string
	// rows of at least this many bytes travel without being packed; 0 = as the cost model says.
	// For tests.
	Gather int
	// for which a process may be stopped before it accepts a connection; 0 = an hour
	stoppedLimit time.Duration
}

// Driver is the driver of TCP with these settings.
func Driver(o Options) transport.Driver {
	return transport.Driver{Name: "tcp", Probe: o.probe, Hint: makeHint, Notes: costs,
		Open: func(c transport.FabricConfig) (transport.Fabric,
			error) {
			return open(o, c)
		}}
}

// Check returns an error for settings that are invalid on every host.
func (o *Options) Check() error {
	_, ports := rawsock.ParsePorts(o.Ports)
	return cmp.Or(ports, sys.CheckInterface(o.Interface))
}

// probe says why TCP cannot be used here, as far as one host can tell: network interfaces that
// cannot be listed, settings that are invalid here. If it returns nil, opening can only fail
// because of other processes.
func (o *Options) probe() error {
	_, ports := rawsock.ParsePorts(o.Ports)
	_, addresses := o.candidates()
	return cmp.Or(ports, rawsock.ProbeCongestion(o.Congestion), addresses)
}

const (
	pollCost      = time.Microsecond      // one poll of a socket and a yield
	flushInterval = 50 * time.Microsecond // how long small frames are deferred
)

// fabric implements transport.Fabric.
type fabric struct {
	transport.FabricConfig
	options     Options
	gatherMin   int    // bytes of a row from which it is not packed
	listenFD    int    // listening socket, -1 if there is none
	addr        []byte // its address
	sendBuffers pool[[]byte]
	kept        keptTotal
	endpoints   poller[*endpoint]
	alarm       sys.Alarm
	reconnects  transport.Reconnects
}

// maxDeferredBody is the longest body that is copied so that it may travel together with the next
// frame. A copy costs less than a system call or a thread for each frame.
const maxDeferredBody = bufferBytes - transport.MaxHead - prefixBytes

// open opens the fabric of a process, which can connect at once. A process that serves has a
// listening socket, at which connections wait until Listen.
func open(o Options, c transport.FabricConfig) (transport.Fabric, error) {
	f := &fabric{FabricConfig: c, options: o, listenFD: -1, alarm: sys.NoAlarm}
	f.Eager = min(max(f.Eager, 0), maxDeferredBody)
	f.gatherMin = cmp.Or(o.Gather, usualRow)
	f.sendBuffers.initPool(newBuffer, max(c.Buffer/4/bufferBytes, minBuffers))
	f.kept.most = max(int64(c.Buffer)/4, minKept)
	err := f.endpoints.open()
	if err == nil {
		f.alarm, err = sys.NewAlarm(f.endpoints.epollFD)
	}
	if err == nil && c.Serves {
		err = f.openListenSocket()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	go watchConnections(&f.endpoints, f.silence(), f.endpoints.done)
	return f, nil
}

// openListenSocket opens the listening socket. Close closes it, also after an error.
func (f *fabric) openListenSocket() error {
	at, err := f.chooseAddr()
	if err != nil {
		return err
	}
	fd, bound, err := rawsock.Listen(at, f.options.Ports)
	if err != nil {
		return err
	}
	f.listenFD, f.addr = fd, []byte(bound.String())
	rawsock.Tune(fd, f.silence())                          // connections inherit this, too
	return rawsock.SetCongestion(fd, f.options.Congestion) // connections inherit it
}

// silence is how long the other host may not answer before a socket is lost. Where another one may
// follow, half of the timeout is left for that: a network that is back then is tried at once,
// while the kernel waits ever longer before it sends again.
func (f *fabric) silence() time.Duration {
	if !f.Reconnect {
		return f.Timeout
	}
	return max(f.Timeout/2, min(f.Timeout, time.Second))
}

// outageBegin is the time since when the other side is out of reach, if its socket is lost now for
// a cause.
func (f *fabric) outageBegin(cause error) time.Time {
	if errors.Is(cause, unix.ETIMEDOUT) {
		return time.Now().Add(-f.silence())
	}
	return time.Now()
}

// Info returns the constants of the fabric.
func (f *fabric) Info() transport.FabricInfo {
	patience := min(time.Duration(f.Looks())*pollCost, wait.FarPatience)
	return transport.FabricInfo{Addr: f.addr, Patience: patience, Tick: flushInterval,
		MinDirectRow: f.gatherMin, Copies: true, Blocks: true, Defers: maxDeferredBody}
}

// Dial connects to the data server of a rank. It connects again while connections are closed before
// they have proved themselves, and while the network is down. The server's kernel must accept one
// within the timeout; the server may be stopped for longer, up to dialLimit.
func (f *fabric) Dial(to transport.Rank, addr []byte,
	r transport.Receiver) (transport.OriginEndpoint, error) {
	at, err := netip.ParseAddrPort(string(addr))
	if err != nil {
		return nil, err
	}
	d := dialer{fabric: f, target: to, addr: at, deadline: time.Now().Add(f.Timeout)}
	point := streamPoint{id: transport.NewNonce()} // one for all attempts
	err = acceptqueue.Redial(f.dialLimit(), d.deadlinePassed,
		func(patience time.Time) error {
			fd, received, err := d.attemptWhenUp(point, patience)
			if err == nil {
				d.endpoint, err = f.newEndpoint(fd, &d, point.id, r)
			}
			if err == nil && received > 0 {
				err = errors.New("the server there knows the stream already")
			}
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", at, err)
	}
	return d.endpoint, nil
}

// newEndpoint makes the endpoint of a socket on which the server has accepted a stream. With an
// error the socket is closed.
func (f *fabric) newEndpoint(fd int, d *dialer, id streamID, r transport.Receiver) (*endpoint,
	error) {
	e := &endpoint{socket: f.newSocket(fd), fabric: f, id: id, target: d.target,
		addr: d.addr,
		rx: receiver{socket: streamSocket{fd: fd}, gatherMin: f.gatherMin, handler: r,
			atOrigin: true}}
	e.tx = sender{out: &e.out, gatherMin: f.gatherMin}
	if err := f.endpoints.addConn(fd, e, epollLoss); err != nil {
		f.endpoints.removeConn(fd)
		unix.Close(fd)
		return nil, err
	}
	return e, nil
}

// dialer connects to the data server of one rank.
type dialer struct {
	*fabric
	target      transport.Rank
	addr        netip.AddrPort
	deadline    time.Time // of all attempts, unless the server is stopped
	peerStopped bool      // the server's kernel answered the latest attempt, the server did not
	endpoint    *endpoint // set by an attempt of Dial that succeeds
}

// deadlinePassed tells whether to give up: the timeout has passed, and the latest attempt did not
// find a stopped process.
func (d *dialer) deadlinePassed() bool { return !d.peerStopped && time.Now().After(d.deadline) }

// attempt connects once, and waits for the server's challenge until patience, and for its answer
// until deadline. The caller owns the socket of the result.
func (d *dialer) attempt(at streamPoint, patience, deadline time.Time) (fd int, received uint64,
	err error) {
	limit := patience
	if now := time.Now(); now.Before(d.deadline) && d.deadline.Before(limit) {
		limit = d.deadline
	}
	fd, err = rawsock.Connect(d.addr, d.options.Congestion, d.silence(), limit)
	d.peerStopped = false
	if err != nil {
		return -1, 0, err
	}
	received, err = d.proveToServer(fd, d.target, at, patience, deadline)
	if err != nil {
		d.peerStopped = errors.Is(err, os.ErrDeadlineExceeded)
		unix.Close(fd)
		return -1, 0, err
	}
	return fd, received, nil
}

// Close closes the sockets that are left. All endpoints and the listener have been closed.
func (f *fabric) Close() error {
	f.endpoints.close()
	f.alarm.Close()
	unix.Close(f.listenFD)
	return nil
}

// Each side chooses how the rows of a strided or vector transfer travel: each as a piece of a call
// that gathers or scatters them, or copied through a buffer. These costs fit the times of patches
// between two processes on the machine of docs/validation.md. BenchmarkRows shows where packing
// stops to pay. Measuring them at the start of a job gives nothing better. In the time that it may
// take, the rows are in the nearest cache, and packing seems four times as fast as it is with rows
// that are not.
const (
	// ns for one more piece in the call that sends it and in the one that receives it
	pieceCost = 130
	byteCost  = 0.155            // ns for one more byte that is packed and unpacked
	usualRow  = 130 * 1000 / 155 // from pieceCost / byteCost bytes on rows are not packed
)

// costs is what armci_info prints of them.
func costs() string {
	return fmt.Sprintf("rows of %d bytes and more are not packed: a piece of a call costs "+
		"%d ns, a packed KiB %.0f ns (built in, not measured here)", usualRow,
		pieceCost, byteCost*1024)
}

// What epoll reports of an endpoint. With one event that ends.
const (
	epollLoss  = unix.EPOLLRDHUP | unix.EPOLLONESHOT
	epollInput = unix.EPOLLIN | epollLoss
)

// poller is an epoll, the connections in it, and an eventfd that ends its wait.
type poller[T any] struct {
	epollFD int
	wakeup  sys.EventFD
	mu      sync.Mutex    // guards conns
	conns   map[int32]T   // by descriptor
	done    chan struct{} // closed with the poller
}

// open opens the epoll and the eventfd. The caller calls close, also after an error.
func (p *poller[T]) open() (err error) {
	p.wakeup, p.conns, p.done = sys.NoEventFD, map[int32]T{}, make(chan struct{})
	if p.epollFD, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		p.wakeup, err = sys.NewEventFD()
	}
	if err == nil {
		// each write is one event; it is not read
		err = p.epollCtl(unix.EPOLL_CTL_ADD, int(p.wakeup), unix.EPOLLIN|unix.EPOLLET)
	}
	return err
}

func (p *poller[T]) close() {
	close(p.done)
	unix.Close(p.epollFD)
	p.wakeup.Close()
}

// epollCtl changes the events that are reported of a descriptor. It takes no lock.
func (p *poller[T]) epollCtl(op, fd int, events uint32) error {
	return unix.EpollCtl(p.epollFD, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// addConn adds a connection to the epoll. It locks mu.
func (p *poller[T]) addConn(fd int, x T, events uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[int32(fd)] = x
	err := p.epollCtl(unix.EPOLL_CTL_ADD, fd, events)
	if err == unix.EEXIST { // it could not be removed
		err = p.epollCtl(unix.EPOLL_CTL_MOD, fd, events)
	}
	return err
}

// removeConn removes a connection, before its descriptor is closed. It locks mu.
func (p *poller[T]) removeConn(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, int32(fd))
	p.epollCtl(unix.EPOLL_CTL_DEL, fd, 0)
}

// listConns returns all connections. It locks mu.
func (p *poller[T]) listConns() []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.conns))
}

// connByFD returns the connection of an event, or the zero value. It locks mu.
func (p *poller[T]) connByFD(fd int32) T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns[fd]
}

// Interrupt ends a wait, or the next one.
func (p *poller[T]) Interrupt() { p.wakeup.Signal() }

// Attend has Wait report input of an endpoint.
func (f *fabric) Attend(s transport.Source) {
	f.endpoints.epollCtl(unix.EPOLL_CTL_MOD, s.(*endpoint).fd, epollInput)
}

// Wait waits for events of all endpoints. Those it returns are not attended any more, but a loss of
// their connections is still reported.
func (f *fabric) Wait(limit time.Duration, ready []transport.Source) []transport.Source {
	if limit != 0 { // epoll_wait counts milliseconds
		var deadline time.Time
		if limit > 0 {
			deadline = time.Now().Add(limit)
		}
		rawsock.WaitFor(f.endpoints.epollFD, unix.POLLIN, deadline)
	}
	var events [16]unix.EpollEvent
	n, _ := unix.EpollWait(f.endpoints.epollFD, events[:], 0)
	ready = ready[:0]
	for _, ev := range events[:max(n, 0)] {
		if e := f.endpoints.connByFD(ev.Fd); e != nil {
			f.endpoints.epollCtl(unix.EPOLL_CTL_MOD, e.fd, epollLoss)
			ready = append(ready, e)
		}
	}
	return ready
}

// Wake ends Wait.
func (f *fabric) Wake() { f.endpoints.Interrupt() }

// SetAlarm ends Wait after a time.
func (f *fabric) SetAlarm(d time.Duration) { f.alarm.Set(d) }

var _ transport.AlarmFabric = (*fabric)(nil)
