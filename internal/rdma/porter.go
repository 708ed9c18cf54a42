// SPDX-License-Identifier: BSD-3-Clause

// The porter of a process receives and sends the datagrams by which processes connect. It sleeps while nobody does.
package rdma

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/rdma/verbs"
)

const (
	porterBuffers = 64
	routeHeader   = 40 // before every datagram that is received
	porterSize    = 256
	firstPause    = 100 * time.Millisecond // before a question is repeated
	longestPause  = time.Second
)

type porter struct {
	h      *hca
	secret []byte
	in     *pool
	out    *pool
	pair   *verbs.Pair
	self   endpoint
	accept func(*hello) (*hello, error) // of a server; nil otherwise
	bell   int
	ended  chan struct{}
	closed atomic.Bool

	mu      sync.Mutex
	waiting map[uint64]chan hello
	sent    map[int32]*verbs.Address // by buffer that is on its way
}

// openPorter makes a process reachable.
func openPorter(base *hca, secret []byte, accept func(*hello) (*hello, error)) (*porter, error) {
	h, err := base.role(2 * porterBuffers)
	if err != nil {
		return nil, err
	}
	p := &porter{h: h, secret: secret, accept: accept, bell: -1, ended: make(chan struct{}),
		waiting: map[uint64]chan hello{}, sent: map[int32]*verbs.Address{}}
	if err = p.open(); err != nil {
		p.release()
		return nil, err
	}
	go p.run()
	return p, nil
}

func (p *porter) open() (err error) {
	if p.in, err = newPool(p.h.domain, porterBuffers, porterSize); err != nil {
		return err
	}
	if p.out, err = newPool(p.h.domain, porterBuffers, porterSize); err != nil {
		return err
	}
	p.pair, err = p.h.domain.NewPair(verbs.Caps{Send: porterBuffers, Receive: porterBuffers, Pieces: 1, From: p.h.cq,
		To: p.h.cq, Datagram: true})
	if err != nil {
		return err
	}
	if err = p.pair.OpenDatagrams(uint8(p.h.way.number)); err != nil {
		return err
	}
	for i := p.in.take(); i != none; i = p.in.take() {
		if err = p.offer(i); err != nil {
			return err
		}
	}
	p.self = endpoint{pair: p.pair.Number, lid: p.h.state.LID, mtu: p.h.state.MTU}
	if g := p.h.way.gid; g != nil {
		p.self.gid = g.addr
	}
	p.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return err
}

// received marks the number of a receive buffer.
const received = uint64(1) << 63

func (p *porter) offer(i int32) error {
	return p.pair.Receive([]uint64{received | uint64(i)}, []verbs.Data{p.in.data(i, 0, porterSize)})
}

// send sends a datagram, if there is room: who does not get it asks again.
func (p *porter) send(m *hello, to *endpoint) error {
	i := p.out.take()
	if i == none {
		return nil
	}
	path := p.h.path(to)
	ah, err := p.h.domain.NewAddress(&path)
	if err != nil {
		p.out.put(i)
		return err
	}
	n := copy(p.out.bytes(i), m.encode(p.secret))
	p.mu.Lock()
	p.sent[i] = ah
	p.mu.Unlock()
	if err = p.pair.SendDatagram(uint64(i), p.out.data(i, 0, n), ah, to.pair); err != nil {
		p.arrived(i)
	}
	return err
}

// arrived takes back the buffer of a datagram that has left.
func (p *porter) arrived(i int32) {
	p.mu.Lock()
	ah := p.sent[i]
	delete(p.sent, i)
	p.mu.Unlock()
	if ah != nil {
		ah.Close()
		p.out.put(i)
	}
}

var errSilent = errors.New("it does not answer")

// ask sends a question until it is answered.
func (p *porter) ask(q *hello, to *endpoint, limit time.Duration) (hello, error) {
	var nonce [8]byte
	rand.Read(nonce[:]) // never fails
	q.kind, q.nonce, q.back = question, binary.LittleEndian.Uint64(nonce[:]), p.self
	reply := make(chan hello, 1)
	p.mu.Lock()
	p.waiting[q.nonce] = reply
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.waiting, q.nonce)
		p.mu.Unlock()
	}()
	pause := firstPause
	for end := time.Now().Add(limit); time.Now().Before(end); pause = min(2*pause, longestPause) {
		if err := p.send(q, to); err != nil {
			return hello{}, err
		}
		select {
		case a := <-reply:
			return a, nil
		case <-p.ended:
			return hello{}, errors.New("closed")
		case <-time.After(pause):
		}
	}
	return hello{}, fmt.Errorf("%w for %v", errSilent, limit)
}

func (p *porter) run() {
	defer log.Guard()
	defer close(p.ended)
	fds := []unix.PollFd{{Fd: int32(p.h.channel.FD()), Events: unix.POLLIN}, {Fd: int32(p.bell), Events: unix.POLLIN}}
	var done [16]verbs.Completion
	for !p.closed.Load() {
		n, err := p.h.cq.Poll(done[:])
		if err != nil {
			log.Errorf("nobody can connect any more: %v", err)
			return
		}
		for i := range done[:n] {
			p.completed(&done[i])
		}
		if n > 0 {
			continue
		}
		p.h.cq.Arm()
		if n, _ := p.h.cq.Poll(done[:1]); n > 0 {
			p.completed(&done[0])
			continue
		}
		unix.Ppoll(fds, nil, nil)
		p.h.channel.Take()
	}
}

func (p *porter) completed(c *verbs.Completion) {
	if c.ID&received == 0 {
		p.arrived(int32(c.ID))
		return
	}
	i := int32(c.ID &^ received)
	if c.Status == 0 && c.Bytes > routeHeader {
		p.hear(p.in.bytes(i)[routeHeader:c.Bytes])
	}
	p.offer(i)
}

// hear acts on a datagram.
func (p *porter) hear(b []byte) {
	var m hello
	if err := m.decode(b, p.secret); err != nil {
		log.Infof("a datagram was ignored: %v", err)
		return
	}
	if m.kind == answer {
		p.mu.Lock()
		reply := p.waiting[m.nonce]
		p.mu.Unlock()
		select {
		case reply <- m:
		default:
		}
		return
	}
	if p.accept == nil {
		return
	}
	a, err := p.accept(&m)
	if err == nil {
		err = p.send(a, &m.back)
	}
	if err != nil {
		log.Warnf("rank %d cannot be connected to: %v", m.from, err)
	}
}

// close ends the porter.
func (p *porter) close() {
	p.closed.Store(true)
	ring(p.bell)
	<-p.ended
	p.release()
}

func ring(fd int) { unix.Write(fd, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

func (p *porter) release() {
	if p.pair != nil {
		p.pair.Close()
	}
	for _, ah := range p.sent {
		ah.Close()
	}
	for _, q := range []*pool{p.in, p.out} {
		if q != nil {
			q.close()
		}
	}
	if p.bell >= 0 {
		unix.Close(p.bell)
	}
	p.h.close()
}
