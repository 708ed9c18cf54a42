// SPDX-License-Identifier: BSD-3-Clause

// The transport as core sees it: opening, who is where, closing. A process has one wire to each node, whatever the
// number of ranks there.
package tcp

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/transport"
)

// Transport implements transport.Transport over TCP.
type Transport struct {
	opt       Options
	server    *server // nil if this rank runs none
	listensAt []byte  // its address
	peers     []transport.PeerAddr
	at        []*wire // by peer: the wire to its node
	wires     []*wire // by node
	engine    engine
	workers   workers
	buffers   buffers
	polls     int // most looks of a waiter before it sleeps
	start     time.Time

	closing atomic.Bool // nothing may be posted
	closed  atomic.Bool // the engine has to end
	ending  sync.Once
	loss    sync.Once
}

// leastProcs is how many goroutines can run at the same time. Those of this package are few, but most of them spend
// their time in system calls, and Go's scheduler takes long to notice that one of its processors is free meanwhile.
const leastProcs = 8

// Open makes the process ready to be connected to, and to connect.
func Open(o Options) (*Transport, error) {
	o.Eager = min(max(o.Eager, 0), bufferBytes/2)
	if runtime.GOMAXPROCS(0) < leastProcs {
		runtime.GOMAXPROCS(leastProcs)
	}
	t := &Transport{opt: o, polls: leastPolls, start: time.Now()}
	if o.Spin != nil {
		t.polls = min(max(o.Spin(), leastPolls), mostPolls)
	}
	t.opt.Lost = t.reportLoss(o.Lost)
	t.opt.Gather, _ = o.gatherFrom()
	t.buffers.init(o.Buffer / 2)
	var err error
	if t.server, t.listensAt, err = openServer(&t.opt); err != nil {
		return nil, err
	}
	if err = t.engine.start(t); err != nil {
		t.closeServer()
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	return t, nil
}

// reportLoss passes on the first loss only, and none while the transport is being closed.
func (t *Transport) reportLoss(tell func(transport.Rank, string)) func(transport.Rank, string) {
	return func(rank transport.Rank, reason string) {
		if tell != nil && !t.closing.Load() {
			t.loss.Do(func() { tell(rank, reason) })
		}
	}
}

// lost reports that the rank at the other end of a wire is lost.
func (t *Transport) lost(w *wire, why error) {
	t.opt.Lost(w.server, fmt.Sprintf("rank %d (host %s): connection lost: %v", w.server, w.host, why))
}

// Info tells what is native, and where this process listens.
func (t *Transport) Info() transport.Info {
	return transport.Info{Name: "tcp", Addr: t.listensAt, Native: transport.Native{Acc: true, RMW: true}, MaxMsg: maxMsg,
		Ordered: true, Eager: t.opt.Eager}
}

// Connect tells who is where. No connection is made before it is used.
func (t *Transport) Connect(peers []transport.PeerAddr) error {
	node, addr := map[transport.Rank]int{}, map[transport.Rank][]byte{}
	for n, ranks := range t.opt.Nodes {
		for _, r := range ranks {
			node[r] = n
		}
	}
	for _, p := range peers {
		if _, ok := node[p.Rank]; !ok {
			return fmt.Errorf("rank %d is not in this job", p.Rank)
		}
		addr[p.Rank] = p.Addr
	}
	wires := make([]*wire, len(t.opt.Nodes))
	for n := range wires {
		server := t.opt.serverOf(n, t.opt.Me)
		wires[n] = newWire(t, n, server, addr[server])
	}
	at := make([]*wire, len(peers))
	for i, p := range peers {
		w := wires[node[p.Rank]]
		if len(w.addr) > 0 {
			at[i] = w
		}
	}
	t.peers, t.wires, t.at = peers, wires, at
	return nil
}

func newWire(t *Transport, node int, server transport.Rank, addr []byte) *wire {
	w := &wire{t: t, server: server, addr: addr, fd: -1, number: int32(node)}
	w.polls = t.polls
	if node < len(t.opt.Hosts) {
		w.host = t.opt.Hosts[node]
	}
	return w
}

// wire is the way to a peer.
func (t *Transport) wire(p transport.Peer) (*wire, error) {
	if t.closing.Load() {
		return nil, transport.ErrClosed
	}
	w := t.at[p]
	if w == nil {
		return nil, fmt.Errorf("tcp: rank %d published no address: %w", t.peers[p].Rank, transport.ErrPeerDead)
	}
	return w, nil
}

// dial connects a wire.
func (t *Transport) dial(w *wire) (int, error) {
	to, err := netip.ParseAddrPort(string(w.addr))
	if err != nil {
		return -1, err
	}
	deadline := time.Now().Add(t.opt.Timeout)
	fd, err := connect(to, &t.opt, deadline)
	if err != nil {
		return -1, err
	}
	if err := shakeHands(fd, t.opt.Secret, w.server, t.opt.Me, deadline); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("connect to %s: %w", to, err)
	}
	return fd, nil
}

// Register has nothing to do: the data server reaches the whole arena.
func (t *Transport) Register([]byte) (transport.Key, error) { return 0, nil }

// Deregister has nothing to do.
func (t *Transport) Deregister(transport.Key) error { return nil }

// Close says goodbye to all nodes and ends what this process runs. What is open fails with ErrClosed.
func (t *Transport) Close() error {
	t.ending.Do(t.end)
	return nil
}

func (t *Transport) end() {
	t.closing.Store(true)
	for _, w := range t.wires {
		w.goodbye()
		w.fail(transport.ErrClosed)
	}
	t.buffers.unbound()
	t.workers.all.Wait()
	t.closed.Store(true)
	t.engine.stop()
	for _, w := range t.wires {
		w.close()
	}
	t.closeServer()
}

func (t *Transport) closeServer() {
	if t.server != nil {
		t.server.close()
	}
}

// partingTime is how long a node's goodbye waits for who is just sending to it.
const partingTime = 200 * time.Millisecond

// goodbye sends what was put off and that nothing follows, unless another is in the middle of sending and stays there.
func (w *wire) goodbye() {
	if !w.live.Load() || w.broken.Load() != nil {
		return
	}
	for end := time.Now().Add(partingTime); !w.mu.TryLock(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			return
		}
	}
	defer w.mu.Unlock()
	h := header{Kind: kindBye}
	if w.out == nil {
		sendNow(w.fd, h.append(nil))
	} else if w.room(headerBytes) == nil {
		w.out = h.append(w.out)
		w.flush()
	}
}

// close gives the descriptor back when nobody uses it any more.
func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.role.Lock()
	defer w.role.Unlock()
	if w.live.Swap(false) {
		unix.Close(w.fd)
	}
}

var _ transport.Transport = (*Transport)(nil)
