// SPDX-License-Identifier: BSD-3-Clause

// Package tcp is the fabric over any IP network: sockets that carry frames between the processes of
// a job. It must not know what frames mean, and must never wait inside Go's network poller.
//
// This file: what package drivers asks for, and the fabric of a process, which is opened, connects
// and is closed. And waiting for many sockets: an epoll for the connections of a data server, and
// one for those of an origin, by which the progress thread waits. The latter always tells of
// connections that are lost, and of what has come where that was asked for.
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
	"libarmci/internal/eventfd"
	"libarmci/internal/hostnet"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// Options are the settings of this fabric alone. They are named in docs/configuration.md.
type Options struct {
	// name or CIDR of the interface to use; "" = the route to the peers
	Interface string
	Ports     string // "lo-hi": where to listen; "" = any
	// control of connections by this name; "", "auto": the system's unless it paces
	Congestion string
	// rows of at least this many bytes travel without being packed; 0 = as the cost model says
	Gather int
	// for which a process that is connected to may be stopped; 0 = an hour
	stopTime time.Duration
}

// Driver is TCP with these settings.
func Driver(o Options) transport.Driver {
	_, why := o.straightFrom()
	return transport.Driver{Name: "tcp", Probe: o.probe, Hint: makeHint,
		Notes: func() string { return why },
		Open: func(c transport.FabricConfig) (transport.Fabric,
			error) {
			return open(o, c)
		}}
}

// Check refuses settings that mean nothing on any host.
func (o *Options) Check() error {
	_, ports := rawsock.Ports(o.Ports)
	return cmp.Or(ports, hostnet.CheckName(o.Interface))
}

// probe says why TCP is of no use here, as far as one host can tell: network interfaces that cannot
// be listed, settings that mean nothing here. Opening can only fail for what others do meanwhile.
func (o *Options) probe() error {
	_, ports := rawsock.Ports(o.Ports)
	_, addresses := o.candidates()
	return cmp.Or(ports, rawsock.TryCongestion(o.Congestion), addresses)
}

const (
	perLook = time.Microsecond      // what a look at a socket takes with a yield
	tick    = 50 * time.Microsecond // how long small frames are put off
)

// fabric implements transport.Fabric.
type fabric struct {
	transport.FabricConfig
	opt      Options
	straight int    // rows of at least so many bytes are not packed
	ln       int    // listening socket, -1 if there is none
	addr     []byte // its address
	buffers  pool[[]byte]
	ends     poller[*endpoint]
	alarm    eventfd.Alarm
}

// mostDeferred is the longest body that is copied so that it may travel together with the next
// frame, which costs less than a system call or a thread for each of them.
const mostDeferred = bufferBytes - transport.MaxHead - prefixBytes

// open makes the process ready to be connected to, and to connect.
func open(o Options, c transport.FabricConfig) (transport.Fabric, error) {
	f := &fabric{FabricConfig: c, opt: o, ln: -1, alarm: eventfd.NoAlarm}
	f.Eager = min(max(f.Eager, 0), mostDeferred)
	f.straight, _ = o.straightFrom()
	f.buffers.init(newBuffer, max(c.Buffer/2/bufferBytes, leastBuffers))
	err := f.ends.open()
	if err == nil {
		f.alarm, err = eventfd.NewAlarm(f.ends.epoll)
	}
	if err == nil && c.Serves {
		err = f.openSocket()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	go watchConnections(&f.ends, f.Timeout, f.ends.done)
	return f, nil
}

// openSocket makes the socket that others connect to.
func (f *fabric) openSocket() error {
	at, err := f.chooseAddr()
	if err != nil {
		return err
	}
	fd, bound, err := rawsock.Listen(at, f.opt.Ports)
	if err != nil {
		return err
	}
	f.ln, f.addr = fd, []byte(bound.String())
	rawsock.Tune(fd, f.Timeout)                        // connections inherit this, too
	return rawsock.SetCongestion(fd, f.opt.Congestion) // connections inherit it
}

// Info tells what is constant.
func (f *fabric) Info() transport.FabricInfo {
	patience := min(time.Duration(f.Looks())*perLook, wait.FarPatience)
	return transport.FabricInfo{Addr: f.addr, Patience: patience, Tick: tick,
		Straight: f.straight, Copies: true, Blocks: true, Defers: mostDeferred}
}

// Dial connects to the data server of a rank: again, while connections are dropped before they have
// proved themselves. The kernel over there has the timeout to accept one; the process that serves
// may be stopped for longer.
func (f *fabric) Dial(to transport.Rank, addr []byte,
	r transport.Receiver) (transport.OriginEndpoint, error) {
	at, err := netip.ParseAddrPort(string(addr))
	if err != nil {
		return nil, err
	}
	d := dialer{fabric: f, to: to, at: at, deadline: time.Now().Add(f.Timeout)}
	err = acceptqueue.Redial(f.dialTime(), d.over,
		func(patience time.Time) error { return d.dial(r, patience) })
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", at, err)
	}
	return d.e, nil
}

// dialer connects to the data server of one rank.
type dialer struct {
	*fabric
	to       transport.Rank
	at       netip.AddrPort
	deadline time.Time // of all attempts, unless the process over there is stopped
	silent   bool      // the kernel over there answered the latest attempt, the process did not
	e        *endpoint
}

// over tells whether the timeout has passed, and the latest attempt did not meet a stopped process.
func (d *dialer) over() bool { return !d.silent && time.Now().After(d.deadline) }

// dial is one attempt, which waits for the server's first word until patience.
func (d *dialer) dial(r transport.Receiver, patience time.Time) error {
	limit := patience
	if now := time.Now(); now.Before(d.deadline) && d.deadline.Before(limit) {
		limit = d.deadline
	}
	fd, err := rawsock.Connect(d.at, d.opt.Congestion, d.Timeout, limit)
	d.silent = false
	if err != nil {
		return err
	}
	e := &endpoint{socket: socket{fd: fd}, f: d.fabric,
		tx: sender{fd: fd, straight: d.straight},
		rx: receiver{fd: fd, straight: d.straight, to: r, origin: true}}
	if err = d.introduce(fd, d.to, patience, time.Now().Add(d.dialTime())); err == nil {
		err = d.ends.add(fd, e, forLoss)
	}
	if err != nil {
		d.silent = errors.Is(err, os.ErrDeadlineExceeded)
		d.ends.remove(fd)
		unix.Close(fd)
		return err
	}
	d.e = e
	return nil
}

// Close ends what is left.
func (f *fabric) Close() error {
	f.ends.close()
	f.alarm.Close()
	unix.Close(f.ln)
	return nil
}

// Each side chooses whether the rows of a strided or vector transfer travel each as a piece of its
// own of a call that gathers or scatters them, or copied through a buffer. These costs fit the
// times of patches between two processes on the machine of docs/validation.md; BenchmarkRows shows
// where packing stops to pay. Measuring them at the start of a job gives nothing better: in the
// time that it may take, the rows are in the nearest cache, and packing seems four times as fast as
// it is with rows that are not.
const (
	// ns for one more piece in the call that sends it and in the one that receives it
	pieceCost = 130
	byteCost  = 0.155            // ns for one more byte that is packed and unpacked
	usualRow  = 130 * 1000 / 155 // from pieceCost / byteCost bytes on rows are not packed
)

// straightFrom is the length from which on rows are not packed, and why: by their costs, unless the
// user has chosen.
func (o *Options) straightFrom() (row int, why string) {
	if o.Gather > 0 {
		return o.Gather,
			fmt.Sprintf("rows of %d bytes and more are not packed: so it is set",
				o.Gather)
	}
	return usualRow,
		fmt.Sprintf("rows of %d bytes and more are not packed: a piece of a call costs "+
			"%d ns, "+
			"a packed KiB %.0f ns", usualRow, pieceCost, byteCost*1024)
}

// What epoll looks for at an endpoint. An event ends that.
const (
	forLoss = unix.EPOLLRDHUP | unix.EPOLLONESHOT
	forData = unix.EPOLLIN | forLoss
)

// poller is an epoll, the connections that it looks at, and an eventfd that ends its wait.
type poller[T any] struct {
	epoll int
	bell  eventfd.FD
	mu    sync.Mutex
	all   map[int32]T   // by descriptor
	done  chan struct{} // closed with the poller
}

func (p *poller[T]) open() (err error) {
	p.bell, p.all, p.done = eventfd.None, map[int32]T{}, make(chan struct{})
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		p.bell, err = eventfd.New()
	}
	if err == nil {
		// each write is one event; it is not read
		err = p.control(unix.EPOLL_CTL_ADD, int(p.bell), unix.EPOLLIN|unix.EPOLLET)
	}
	return err
}

func (p *poller[T]) close() {
	close(p.done)
	unix.Close(p.epoll)
	p.bell.Close()
}

// control changes what is looked for at a descriptor.
func (p *poller[T]) control(op, fd int, events uint32) error {
	return unix.EpollCtl(p.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// add begins to look after a connection, and remove ends that.
func (p *poller[T]) add(fd int, x T, events uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[int32(fd)] = x
	return p.control(unix.EPOLL_CTL_ADD, fd, events)
}

func (p *poller[T]) remove(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, int32(fd))
	p.control(unix.EPOLL_CTL_DEL, fd, 0)
}

// list is all connections.
func (p *poller[T]) list() []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.all))
}

// find gives the connection of an event, or nil.
func (p *poller[T]) find(fd int32) T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[fd]
}

// Interrupt ends a wait, or the next one.
func (p *poller[T]) Interrupt() { p.bell.Ring() }

// Attend has Wait tell what comes on an endpoint.
func (f *fabric) Attend(s transport.Source) {
	f.ends.control(unix.EPOLL_CTL_MOD, s.(*endpoint).fd, forData)
}

// Wait waits for all endpoints.
func (f *fabric) Wait(limit time.Duration, ready []transport.Source) []transport.Source {
	if limit != 0 { // epoll_wait counts milliseconds
		var deadline time.Time
		if limit > 0 {
			deadline = time.Now().Add(limit)
		}
		rawsock.WaitFor(f.ends.epoll, unix.POLLIN, deadline)
	}
	var events [16]unix.EpollEvent
	n, _ := unix.EpollWait(f.ends.epoll, events[:], 0)
	ready = ready[:0]
	for _, ev := range events[:max(n, 0)] {
		if e := f.ends.find(ev.Fd); e != nil {
			f.ends.control(unix.EPOLL_CTL_MOD, e.fd, forLoss)
			ready = append(ready, e)
		}
	}
	return ready
}

// Wake ends Wait.
func (f *fabric) Wake() { f.ends.Interrupt() }

// WakeIn ends Wait after a time.
func (f *fabric) WakeIn(d time.Duration) { f.alarm.Set(d) }

var _ transport.AlarmFabric = (*fabric)(nil)
