// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite that every fabric passes: one list of tests for all networks. All processes
// of a job are in this one; each is a node of its own, opens the fabric, and runs a data server.
// The rules are the contracts of transport/fabric.go, endpoint.go and direct.go.
package transporttest

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// patience is far more than any step takes, even on a busy machine.
const patience = 60 * time.Second

// RunFabric tests a fabric. Where it cannot be used, the test is skipped with the reason.
func RunFabric(t *testing.T, d transport.Driver) {
	if d.Probe != nil {
		if err := d.Probe(); err != nil {
			t.Skipf("%s cannot be used here: %v", d.Name, err)
		}
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, transport.Driver)
	}{
		{"info", fabricInfo}, {"sizes", fabricSizes}, {"shapes", fabricShapes},
		{"order", fabricOrder},
		{"origins", fabricOrigins}, {"post", fabricPost}, {"data", fabricData},
		{"parts", fabricParts}, {"cursor", fabricCursor},
		{"deferred", fabricDeferred}, {"broken", fabricBroken},
		{"broken/blocked", fabricBlocked},
		{"broken/busy", fabricBrokenBusy}, {"close", fabricClose},
		{"close/both", fabricCloseBoth},
		{"refused/frame", fabricRefusedFrame}, {"refused/origin", fabricRefusedOrigin},
		{"absent", fabricAbsent}, {"wait", fabricWait},
		{"wait/lossless", fabricWakeUps}, {"wait/lost", fabricWaitLost},
		{"sleep", fabricSleep},
		{"direct", fabricDirect}, {"direct/shapes", fabricDirectShapes},
		{"direct/order", fabricDirectOrder},
		{"direct/back", fabricDirectBack}, {"direct/foreign", fabricDirectForeign},
		{"direct/lost", fabricDirectLost},
		{"direct/ranges", fabricRanges}, {"atomic", fabricAtomic},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, d) })
	}
}

// fabricJob has the processes of a test, one rank per node.
type fabricJob struct {
	*Cluster
	t      testing.TB
	driver transport.Driver
	procs  []*fabricProcess
	nodes  [][]transport.Rank
	hints  [][]byte
	hosts  []string
	// Set by a test before the first process opens its fabric:
	manualPolling bool                          // the test polls the sources of origins itself
	onAccept      func(e *fabricEnd) error      // prepares a target's end, or refuses it
	changeConfig  func(*transport.FabricConfig) // of a process
}

// fabricProcess is one pretended process: its fabric, the source of its data server, and the ends
// of its connections.
type fabricProcess struct {
	job      *fabricJob
	rank     transport.Rank
	fabric   transport.Fabric
	listener transport.Listener
	server   *pollLoop
	arenaMem uintptr // fabricMemBytes of the arena
	ownMem   uintptr // as many bytes outside of it

	mu       sync.Mutex
	changed  *sync.Cond
	loops    map[transport.Source]*pollLoop // of origin's ends
	ends     map[transport.Endpoint]*fabricEnd
	copies   bool // Post copies what it is given
	accepted []*fabricEnd
	fatal    error
}

const fabricMemBytes = 3 << 20

// newFabricJob makes n processes. The caller opens them by openAll.
func newFabricJob(t testing.TB, d transport.Driver, n int) *fabricJob {
	leaktest.Check(t)
	j := &fabricJob{Cluster: NewCluster(n), t: t, driver: d}
	t.Cleanup(j.Cluster.Close)
	for i := range n {
		p := &fabricProcess{job: j, rank: transport.Rank(i),
			loops: map[transport.Source]*pollLoop{},
			ends:  map[transport.Endpoint]*fabricEnd{}}
		p.changed = sync.NewCond(&p.mu)
		j.procs = append(j.procs, p)
		j.nodes = append(j.nodes, []transport.Rank{p.rank})
		j.hosts = append(j.hosts, "host"+string(rune('a'+i)))
		var hint []byte
		if d.Hint != nil {
			hint = d.Hint()
		}
		j.hints = append(j.hints, hint)
		p.arenaMem, p.ownMem = p.allocate(fabricMemBytes), j.Private(i, fabricMemBytes)
	}
	return j
}

// openFabrics is newFabricJob and openAll.
func openFabrics(t testing.TB, d transport.Driver, n int) *fabricJob {
	j := newFabricJob(t, d, n)
	j.openAll()
	return j
}

// allocate allocates and publishes arena memory of the process.
func (p *fabricProcess) allocate(nbytes int64) uintptr {
	n := p.job.Node(int(p.rank))
	addr, err := n.AllocatePopulated(nbytes)
	if err == nil {
		err = n.Publish(addr, nbytes)
	}
	if err != nil {
		p.job.t.Fatal(err)
	}
	return addr
}

// openAll opens all processes. They are closed when the test ends.
func (j *fabricJob) openAll() {
	j.t.Helper()
	for _, p := range j.procs {
		if err := p.openProcess(); err != nil {
			j.t.Fatalf("rank %d: %v", p.rank, err)
		}
		j.t.Cleanup(p.closeProcess)
	}
}

// fabricConfig is the argument of Driver.Open for the process.
func (p *fabricProcess) fabricConfig() transport.FabricConfig {
	j, memory := p.job, &Memory{}
	cfg := transport.FabricConfig{Serves: true, Await: p.awaitDone, Receive: p.pollOnce,
		Settings: transport.Settings{Timeout: 5 * time.Second, Buffer: 4 << 20,
			Eager: 8 << 10, Looks: func() int { return 50 },
			Unbind: func() {}},
		Fatal: func(err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.fatal = err
			p.changed.Broadcast()
		}}
	cfg.OpenInfo = transport.OpenInfo{Me: p.rank, Nodes: j.nodes, MyNode: int(p.rank),
		Hosts: j.hosts, Hints: j.hints,
		Secret: []byte("the secret of a test's job"), Memory: memory,
		Node: View{Node: j.Node(int(p.rank)), First: int(p.rank), Memory: memory}}
	if j.changeConfig != nil {
		j.changeConfig(&cfg)
	}
	return cfg
}

// openProcess opens the fabric, listens, and starts polling the data server's source.
func (p *fabricProcess) openProcess() (err error) {
	if p.fabric, err = p.job.driver.Open(p.fabricConfig()); err != nil {
		return err
	}
	p.copies = p.fabric.Info().Copies
	if p.listener, err = p.fabric.Listen(p.acceptEnd); err != nil {
		p.fabric.Close()
		p.fabric = nil
		return err
	}
	p.server = startLoop(p.listener)
	return nil
}

// acceptEnd is the argument of Listen: it makes the target's end of a new connection.
func (p *fabricProcess) acceptEnd(from transport.Rank, e transport.TargetEndpoint) (
	transport.Receiver, error) {
	end := newFabricEnd(p, from)
	end.ep, end.target = e, true
	if p.job.onAccept != nil {
		if err := p.job.onAccept(end); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accepted = append(p.accepted, end)
	p.changed.Broadcast()
	return end, nil
}

// dialRank connects to a rank and starts polling. The connection is closed when the test ends.
func (p *fabricProcess) dialRank(to int) *fabricEnd {
	p.job.t.Helper()
	end := newFabricEnd(p, transport.Rank(to))
	e, err := p.fabric.Dial(transport.Rank(to), p.job.procs[to].fabric.Info().Addr, end)
	if err != nil {
		p.job.t.Fatalf("rank %d dials rank %d: %v", p.rank, to, err)
	}
	p.startPolling(end, e)
	p.job.t.Cleanup(func() { end.closeOrigin(time.Second) })
	return end
}

// acceptedFrom waits for a connection that a rank has made, and returns the target's end.
func (p *fabricProcess) acceptedFrom(rank transport.Rank) (end *fabricEnd) {
	p.job.t.Helper()
	waitWithin(p.job.t, p.changed, "rank is accepted", func() bool {
		for _, e := range p.accepted {
			if e.peer == rank {
				end = e
			}
		}
		return end != nil
	})
	return end
}

// connectPair connects rank 0 to rank 1, and returns both ends.
func (j *fabricJob) connectPair() (origin, target *fabricEnd) {
	j.t.Helper()
	origin = j.procs[0].dialRank(1)
	return origin, j.procs[1].acceptedFrom(0)
}

// closeProcess ends the process. Its connections have been closed, but for those of which it is the
// target.
func (p *fabricProcess) closeProcess() {
	if p.fabric == nil {
		return
	}
	for _, l := range p.loops {
		l.stopLoop()
	}
	p.server.stopLoop()
	p.listener.Close()
	if err := p.fabric.Close(); err != nil {
		p.job.t.Errorf("rank %d closes: %v", p.rank, err)
	}
	p.fabric = nil
}

// waitWithin waits for a condition that the lock of c guards. It fails the test after patience.
func waitWithin(t testing.TB, c *sync.Cond, what string, done func() bool) {
	t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		c.L.Lock()
		late = true
		c.L.Unlock()
		c.Broadcast()
	})
	defer timer.Stop()
	c.L.Lock()
	for !done() && !late {
		c.Wait()
	}
	ok := done()
	c.L.Unlock()
	if !ok {
		t.Fatalf("in vain: %s", what)
	}
}

// randomCursor makes a cursor of at least one byte, within room bytes from base on: contiguous,
// strided or a list. Its rows do not overlap, and their lengths are multiples of grain.
func randomCursor(r *rand.Rand, base uintptr, room int64, grain int) (c kernel.Cursor) {
	row := grain * (1 + r.IntN(300/grain))
	switch r.IntN(3) {
	case 0:
		n := min(int64(row)*int64(1+r.IntN(400)), room) / int64(grain) * int64(grain)
		c.SetContiguous(base, n)
	case 1:
		count, stride, extent := []int32{int32(row)}, []int32{}, int64(row)
		for range 1 + r.IntN(3) {
			step, k := extent+int64(grain*r.IntN(9)), int64(1+r.IntN(12))
			if step*k > room {
				break
			}
			count, stride, extent = append(count, int32(k)),
				append(stride, int32(step)), step*k
		}
		c.SetStrided(base, count, stride)
	default:
		var groups []kernel.Group
		total, at := int64(0), base
		for range 1 + r.IntN(5) {
			g := kernel.Group{Addr: at, Bytes: grain * (1 + r.IntN(100/grain)),
				Count: 1 + r.IntN(20)}
			g.Step = int64(g.Bytes + grain*r.IntN(5))
			if r.IntN(2) == 0 {
				for _, k := range r.Perm(g.Count) {
					g.Addrs = append(g.Addrs, at+uintptr(int64(k)*g.Step))
				}
			}
			at += uintptr(g.Step * int64(g.Count))
			total += int64(g.Bytes) * int64(g.Count)
			groups = append(groups, g)
		}
		c.SetGroups(groups, total)
	}
	return c
}

// packCursor returns the bytes in front of a cursor. The caller's cursor does not move.
func packCursor(c kernel.Cursor) []byte {
	b := make([]byte, c.Left())
	c.Pack(b)
	return b
}
