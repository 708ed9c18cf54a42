// SPDX-License-Identifier: BSD-3-Clause

// One process at the network: how it listens, connects, and waits for what comes on any of its
// connections.
package pipe

import (
	"errors"
	"fmt"
	"time"

	"libarmci/internal/transport"
)

type fabric struct {
	net  *Net
	cfg  transport.FabricConfig
	addr string
	bell chan struct{} // rung when Wait is to look again

	posted chan struct{} // rung when the device is to look again

	// Under the net's lock:
	woken    bool
	gone     bool // it says nothing any more
	accept   func(transport.Rank, transport.TargetEndpoint) (transport.Receiver, error)
	server   *source
	shared   *source // of all origin's ends, with Options.Shared
	sources  []*source
	exposed  []transport.Range
	work     []*request    // of the device
	device   chan struct{} // closed when the device has stopped; nil: it has not begun
	stopping bool
}

// ends are all open ends.
func (f *fabric) ends() (all []*end) {
	for _, s := range f.sources {
		all = append(all, s.ends...)
	}
	return all
}

func (f *fabric) Info() transport.FabricInfo {
	o := &f.net.opts
	return transport.FabricInfo{Addr: []byte(f.addr), Credits: o.Credits,
		Patience: 50 * time.Microsecond, Tick: 200 * time.Microsecond,
		Straight: o.Straight, Blocks: o.Blocks, Pulses: true}
}

func (f *fabric) newSource() *source {
	s := &source{fabric: f, bell: make(chan struct{}, 1)}
	f.sources = append(f.sources, s)
	return s
}

// Listen begins to accept.
func (f *fabric) Listen(accept func(transport.Rank, transport.TargetEndpoint) (transport.Receiver,
	error)) (transport.Listener, error) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	f.accept, f.server = accept, f.newSource()
	return &listener{source: f.server}, nil
}

// Dial connects. The hellos are what any network would send.
func (f *fabric) Dial(to transport.Rank, addr []byte,
	r transport.Receiver) (transport.OriginEndpoint, error) {
	f.net.mu.Lock()
	t := f.net.fabrics[string(addr)]
	silent := t == nil || t.gone || f.gone || t.accept == nil
	f.net.mu.Unlock()
	if silent {
		time.Sleep(min(f.cfg.Timeout, 100*time.Millisecond)) // tests are not patient
		return nil, fmt.Errorf("nobody answers at %q", addr)
	}
	c := f.net.newConn(f, t, to, r)
	theirs := transport.NewNonce() // the target sends it first
	mine := transport.Hello{From: f.cfg.Me, To: to, Frame: uint32(f.net.opts.MaxFrame),
		Nonce: transport.NewNonce()}
	reply, err := t.greet(c.ends[1], mine.Seal(f.cfg.Secret, "origin", theirs[:]), theirs,
		mine.Nonce[:])
	var its transport.Hello
	if err == nil {
		err = its.Unseal(reply, f.cfg.Secret, "target", mine.Nonce[:])
	}
	if err == nil && its.From != to {
		err = fmt.Errorf("rank %d answers, not rank %d", its.From, to)
	}
	if err != nil {
		c.drop()
		return nil, err
	}
	return c.ends[0].self, nil
}

// greet is the target's side of Dial: it proves the origin, accepts it, and says who it is itself.
func (f *fabric) greet(e *end, hello []byte, mine [transport.NonceBytes]byte,
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
	e.source.ring()
	f.net.mu.Unlock()
	answer := transport.Hello{From: f.cfg.Me, To: h.From, Frame: h.Frame, Nonce: mine}
	return answer.Seal(f.cfg.Secret, "target", theirs), nil
}

// Wait lists sources that are attended and have something new, and those that have lost a
// connection.
func (f *fabric) Wait(limit time.Duration, ready []transport.Source) []transport.Source {
	ready = ready[:0]
	for begin := time.Now(); ; {
		f.net.mu.Lock()
		var next time.Time
		for _, s := range f.sources {
			lost, news, at := s.state(time.Now())
			if s != f.server && (lost || s.attended && news) {
				s.attended = false
				ready = append(ready, s)
			} else if s != f.server {
				next = earlier(next, at)
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
			left = max(limit-time.Since(begin), 0) // negative means any time
		}
		listen(f.bell, left, next)
	}
}

// Attend makes Wait list what comes from now on.
func (f *fabric) Attend(s transport.Source) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	s.(*source).attend(time.Now())
}

func (f *fabric) Wake() {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	f.woken = true
	strike(f.bell)
}

// WakeIn ends Wait later. A call is as good as the one before.
func (f *fabric) WakeIn(d time.Duration) { time.AfterFunc(d, f.Wake) }

// Close ends the device, and says what has been left open.
func (f *fabric) Close() error {
	f.net.mu.Lock()
	open := len(f.ends())
	delete(f.net.fabrics, f.addr)
	f.stopping = true
	device := f.device
	strike(f.posted)
	f.net.mu.Unlock()
	if device != nil {
		<-device
	}
	if open > 0 || f.accept != nil {
		return fmt.Errorf("pipe: closed with %d open endpoints (listening: %v)", open,
			f.accept != nil)
	}
	return nil
}
