// SPDX-License-Identifier: BSD-3-Clause

// One process at the network: it listens, connects, and waits for arrivals on any of its
// connections.
package pipe

import (
	"errors"
	"fmt"
	"time"

	"libarmci/internal/transport"
)

// fabric is a Fabric.
type fabric struct {
	net    *Net
	cfg    transport.FabricConfig
	addr   string
	wakeUp chan struct{} // ends Wait
	device deviceQueue

	// Under the net's lock:
	woken    bool // Wake has been called: Wait returns
	vanished bool // the process is silent (Net.Vanish)
	accept   func(transport.Rank, transport.TargetEndpoint) (transport.Receiver, error)
	server   *source
	shared   *source // the last source of an origin's ends, with Options.Shared of all
	sources  []*source
	exposed  []transport.Range
	dialed   map[string]int // by address: attempts that were refused since one was not
}

// endpoints are all open ends. The caller holds the net's lock.
func (f *fabric) endpoints() (all []*endpoint) {
	for _, s := range f.sources {
		all = append(all, s.endpoints...)
	}
	return all
}

func (f *fabric) Info() transport.FabricInfo {
	o := &f.net.opts
	return transport.FabricInfo{Addr: []byte(f.addr), Credits: o.Credits,
		Patience: 50 * time.Microsecond, Tick: 200 * time.Microsecond,
		MinDirectRow: o.Straight, Blocks: o.Blocks, Pulses: true}
}

// newSource adds a source. The caller holds the net's lock.
func (f *fabric) newSource() *source {
	s := &source{fabric: f, wakeUp: make(chan struct{}, 1)}
	f.sources = append(f.sources, s)
	return s
}

// Listen makes the process reachable for Dial.
func (f *fabric) Listen(accept func(transport.Rank, transport.TargetEndpoint) (transport.Receiver,
	error)) (transport.Listener, error) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	f.accept, f.server = accept, f.newSource()
	return &listener{source: f.server}, nil
}

// Dial connects. The hellos are those that every network sends.
func (f *fabric) Dial(to transport.Rank, addr []byte,
	r transport.Receiver) (transport.OriginEndpoint, error) {
	f.net.mu.Lock()
	t := f.net.fabrics[string(addr)]
	silent := t == nil || t.vanished || f.vanished || t.accept == nil
	refused := f.refuses(string(addr))
	f.net.mu.Unlock()
	if refused {
		return nil, errors.New("there is no room for a connection")
	}
	if silent {
		// A real network waits for the whole timeout; tests should not.
		time.Sleep(min(f.cfg.Timeout, 100*time.Millisecond))
		return nil, fmt.Errorf("nobody answers at %q", addr)
	}
	c := f.net.newConn(f, t, to, r)
	theirs := transport.NewNonce() // the target sends it first
	mine := transport.Hello{From: f.cfg.Me, To: to, Frame: uint32(f.net.opts.MaxFrame),
		Nonce: transport.NewNonce()}
	reply, err := t.acceptOrigin(c.ends[1], mine.Seal(f.cfg.Secret, "origin", theirs[:]),
		theirs, mine.Nonce[:])
	var its transport.Hello
	if err == nil {
		err = its.Unseal(reply, f.cfg.Secret, "target", mine.Nonce[:])
	}
	if err == nil && its.From != to {
		err = fmt.Errorf("rank %d answers, not rank %d", its.From, to)
	}
	if err != nil {
		c.discard()
		return nil, err
	}
	return c.ends[0].self, nil
}

// refuses tells whether an attempt to connect is refused. The caller holds the net's lock.
func (f *fabric) refuses(addr string) bool {
	n, again := f.dialed[addr]
	if again && n < 2 && f.net.opts.Refuse > 0 && f.net.rnd.IntN(f.net.opts.Refuse) == 0 {
		f.dialed[addr]++
		return true
	}
	if f.dialed == nil {
		f.dialed = map[string]int{}
	}
	f.dialed[addr] = 0
	return false
}

// acceptOrigin is the target's side of Dial: it checks the origin's hello, accepts the connection,
// and returns the target's own hello.
func (f *fabric) acceptOrigin(e *endpoint, hello []byte, mine [transport.NonceBytes]byte,
	theirs []byte) ([]byte, error) {
	var h transport.Hello
	if err := h.Unseal(hello, f.cfg.Secret, "origin", mine[:]); err != nil {
		return nil, err
	}
	if f.cfg.NodeOf(h.From) < 0 || h.To != f.cfg.Me {
		return nil, fmt.Errorf("rank %d asks for rank %d at rank %d", h.From, h.To,
			f.cfg.Me)
	}
	f.net.mu.Lock()
	accept := f.accept
	f.net.mu.Unlock()
	if accept == nil {
		return nil, errors.New("nobody listens")
	}
	r, err := accept(h.From, e.self)
	if err != nil {
		return nil, err
	}
	f.net.mu.Lock()
	e.receiver = r
	e.source.wakeWaiters()
	f.net.mu.Unlock()
	answer := transport.Hello{From: f.cfg.Me, To: h.From, Frame: h.Frame, Nonce: mine}
	return answer.Seal(f.cfg.Secret, "target", theirs), nil
}

// Wait lists sources that are attended and have new arrivals, and those that have lost a
// connection.
func (f *fabric) Wait(limit time.Duration, ready []transport.Source) []transport.Source {
	ready = ready[:0]
	for begin := time.Now(); ; {
		f.net.mu.Lock()
		var next time.Time
		for _, s := range f.sources {
			lost, arrived, due := s.pendingEvents(time.Now())
			if s != f.server && (lost || s.attended && arrived) {
				s.attended = false
				ready = append(ready, s)
			} else if s != f.server {
				next = earlier(next, due)
			}
		}
		woken := f.woken
		f.woken = woken && len(ready) > 0
		f.net.mu.Unlock()
		if woken || len(ready) > 0 || limit >= 0 && time.Since(begin) >= limit {
			return ready
		}
		left := limit
		if limit >= 0 {
			left = max(limit-time.Since(begin), 0) // negative is no limit
		}
		awaitSignal(f.wakeUp, left, next)
	}
}

// Attend makes Wait list the source when anything arrives from now on.
func (f *fabric) Attend(s transport.Source) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	s.(*source).attend(time.Now())
}

func (f *fabric) Wake() {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	f.woken = true
	signal(f.wakeUp)
}

// SetAlarm sets a timer. Earlier timers stay, and may end Wait too early.
func (f *fabric) SetAlarm(d time.Duration) { time.AfterFunc(d, f.Wake) }

// Close stops the device. It fails if endpoints or the listener are open.
func (f *fabric) Close() error {
	f.net.mu.Lock()
	open := len(f.endpoints())
	delete(f.net.fabrics, f.addr)
	f.device.stopping = true
	stopped := f.device.stopped
	signal(f.device.wakeUp)
	f.net.mu.Unlock()
	if stopped != nil {
		<-stopped
	}
	if open > 0 || f.accept != nil {
		return fmt.Errorf("pipe: closed with %d open endpoints (listening: %v)", open,
			f.accept != nil)
	}
	return nil
}
