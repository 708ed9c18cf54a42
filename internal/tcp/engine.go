// SPDX-License-Identifier: BSD-3-Clause

// The engine is one goroutine of a process that does what no caller is there to do: it reads the answers of operations
// nobody waits for, sends small stores that were put off, and notices that a node has gone. It sleeps in the kernel when
// there is nothing of the kind, and never waits for one wire alone.
package tcp

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/log"
)

const (
	tick      = 50 * time.Microsecond // how long small stores are put off
	idleTicks = 20                    // without anything to do, before the engine sleeps until it is woken
	maxBurst  = 64                    // receives from one wire before the others have their turn
	gone      = unix.EPOLLRDHUP | unix.EPOLLONESHOT
	answers   = unix.EPOLLIN | gone
)

type engine struct {
	t      *Transport
	epoll  int
	bell   int // eventfd
	mu     sync.Mutex
	wires  []*wire         // that want attention
	known  map[int32]*wire // all, by number
	asleep atomic.Bool
	ended  chan struct{}
}

// start makes the engine run.
func (e *engine) start(t *Transport) error {
	e.t, e.ended, e.known = t, make(chan struct{}), map[int32]*wire{}
	var err error
	if e.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if e.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(e.epoll)
		return err
	}
	unix.EpollCtl(e.epoll, unix.EPOLL_CTL_ADD, e.bell, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: -1})
	go e.run()
	return nil
}

// watch begins to look after a new connection.
func (e *engine) watch(w *wire) {
	e.mu.Lock()
	e.known[w.number] = w
	e.mu.Unlock()
	unix.EpollCtl(e.epoll, unix.EPOLL_CTL_ADD, w.fd, &unix.EpollEvent{Events: gone, Fd: w.number})
}

func (e *engine) arm(w *wire, events uint32) {
	unix.EpollCtl(e.epoll, unix.EPOLL_CTL_MOD, w.fd, &unix.EpollEvent{Events: events, Fd: w.number})
}

// attend asks for attention to a wire: something was put off, or is open that nobody waits for.
func (e *engine) attend(w *wire) {
	e.mu.Lock()
	if !w.listed {
		w.listed = true
		e.wires = append(e.wires, w)
	}
	e.mu.Unlock()
	if e.asleep.CompareAndSwap(true, false) {
		e.ring()
	}
}

func (e *engine) ring() { unix.Write(e.bell, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// stop ends the engine and waits until it has.
func (e *engine) stop() {
	e.ring()
	<-e.ended
	unix.Close(e.bell)
	unix.Close(e.epoll)
}

func (e *engine) run() {
	defer log.Guard()
	defer close(e.ended)
	runtime.LockOSThread() // for what the next two do
	e.t.opt.unbind()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
	idle := 0
	for !e.t.closed.Load() {
		if e.tend() {
			idle = 0
		} else {
			idle++
		}
		e.sleep(idle > idleTicks)
		if e.events() {
			idle = 0
		}
	}
}

// tend visits the wires that want attention: false if there were none.
func (e *engine) tend() bool {
	e.mu.Lock()
	list := e.wires
	e.wires = nil
	for _, w := range list {
		w.listed = false
	}
	e.mu.Unlock()
	for _, w := range list {
		if w.push() {
			e.attend(w)
		}
		switch {
		case !w.expects():
		case w.driven.Swap(false):
			e.attend(w)
		default:
			w.collect()
		}
	}
	return len(list) > 0
}

// sleep waits for a tick, or until something happens.
func (e *engine) sleep(long bool) {
	limit := unix.NsecToTimespec(int64(tick))
	p := [1]unix.PollFd{{Fd: int32(e.epoll), Events: unix.POLLIN}}
	if !long {
		unix.Ppoll(p[:], &limit, nil)
		return
	}
	e.asleep.Store(true)
	e.mu.Lock()
	idle := len(e.wires) == 0
	e.mu.Unlock()
	if idle && !e.t.closed.Load() {
		unix.Ppoll(p[:], nil, nil)
	}
	e.asleep.Store(false)
}

// events handles what epoll has noticed: false if that was nothing.
func (e *engine) events() bool {
	var list [16]unix.EpollEvent
	n, _ := unix.EpollWait(e.epoll, list[:], 0)
	for i := range max(n, 0) {
		if number := list[i].Fd; number >= 0 {
			e.mu.Lock()
			w := e.known[number]
			e.mu.Unlock()
			e.noticed(w)
			continue
		}
		var b [8]byte
		unix.Read(e.bell, b[:])
	}
	return n > 0
}

// noticed reads what has come, unless a caller is about to.
func (e *engine) noticed(w *wire) {
	if w.expects() && w.driven.Load() && w.broken.Load() == nil {
		e.arm(w, gone)
		e.attend(w)
		return
	}
	w.collect()
}

// push sends what was put off: true if something is left.
func (w *wire) push() bool {
	if !w.deferred.Load() {
		return false
	}
	if !w.mu.TryLock() {
		return true
	}
	defer w.mu.Unlock()
	if len(w.out) > 0 && w.broken.Load() == nil {
		w.trickle()
	}
	if w.broken.Load() != nil {
		w.sent() // others may wait for the buffer
	}
	return w.deferred.Load()
}

// collect reads answers, unless a caller does, and has epoll tell when more come.
func (w *wire) collect() {
	if w.broken.Load() != nil {
		return
	}
	if !w.role.TryLock() {
		w.t.engine.arm(w, gone)
		return
	}
	more := true
	for i := 0; more && i < maxBurst; i++ {
		var err error
		if more, err = w.receive(); err != nil {
			w.fail(err) // before somebody else reads on and finds something else
			w.role.Unlock()
			return
		}
	}
	w.role.Unlock()
	w.sleepers.wakeOne()
	if w.expects() {
		w.t.engine.arm(w, answers)
	} else {
		w.t.engine.arm(w, gone)
	}
}
