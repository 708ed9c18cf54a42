// SPDX-License-Identifier: BSD-3-Clause

// What the tests of core share: a job of ranks that are goroutines on a stand-in node, over a
// transport whose completions come later and in another order. Each rank runs the test's function
// between Start and Finalize.
package core

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/config"
	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// everything is what the stand-in transport can do unless a test wants less.
var everything = transporttest.Options{Seed: 1}

// tr is a running rank of a test.
type tr struct {
	*Runtime
	*testing.T
	c *transporttest.Cluster
}

// world runs f on n ranks.
func world(t *testing.T, n int, f func(r *tr)) { worldOf(t, n, nil, f) }

// worldOf lets a test change the cluster first.
func worldOf(t *testing.T, n int, change func(*transporttest.Cluster), f func(r *tr)) {
	t.Helper()
	jobOf(t, n, func(int) []string { return nil }, change, f)
}

// shape is how ranks are spread over nodes.
type shape struct {
	nodes, ranks int
	cyclic       bool // neighbours on different nodes
}

func (s shape) String() string {
	if s.cyclic {
		return fmt.Sprintf("%d ranks on %d nodes, cyclic", s.ranks, s.nodes)
	}
	return fmt.Sprintf("%d ranks on %d nodes", s.ranks, s.nodes)
}

// node is the number of a rank's node.
func (s shape) node(rank int) int {
	if s.cyclic {
		return rank % s.nodes
	}
	return rank * s.nodes / s.ranks
}

// shapes are those every protocol between nodes is tested on.
var shapes = []shape{{1, 4, false}, {2, 4, false}, {2, 5, true}, {3, 3, false}, {3, 7, true},
	{4, 4, false}, {5, 6, false}}

// apart is two ranks that only the wire connects.
var apart = shape{nodes: 2, ranks: 2}

// wire is what the wire of a test does unless it says otherwise: like a socket's, a message waits
// for what went before.
var wire = transporttest.Options{Seed: 3, Ordered: true, Eager: 256}

// run runs f on the ranks of a shape.
func (s shape) run(t *testing.T, change func(*transporttest.Cluster), f func(r *tr)) {
	t.Helper()
	jobOf(t, s.ranks,
		func(i int) []string { return []string{fmt.Sprintf("ARMCI_NODE=n%d", s.node(i))} },
		func(c *transporttest.Cluster) {
			o := wire
			c.Wire = &o
			if change != nil {
				change(c)
			}
		}, f)
}

// everyShape runs f on every shape, over a wire that keeps messages behind data and over one that
// does not.
func everyShape(t *testing.T, f func(r *tr)) {
	for _, s := range shapes {
		t.Run(s.String(), func(t *testing.T) { s.run(t, nil, f) })
	}
	t.Run("unordered wire", func(t *testing.T) {
		shape{2, 4, true}.run(t, func(c *transporttest.Cluster) {
			c.Wire.Ordered, c.Wire.Eager = false, 0
			c.Wire.Pause = 50 * time.Microsecond
		}, f)
	})
}

// jobOf runs f on each of n ranks of a job whose cluster change has adapted.
func jobOf(t *testing.T, n int, environ func(rank int) []string,
	change func(*transporttest.Cluster), f func(r *tr)) {
	t.Helper()
	leaktest.Check(t)
	c := transporttest.NewCluster(n)
	c.Opts = everything
	if change != nil {
		change(c)
	}
	t.Cleanup(c.Close)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			r, err := Start(settings(environ(i)...), c.Job(i), c.Platform(i))
			if err != nil {
				panic(err) // the other ranks would wait for ever
			}
			f(&tr{r, t, c})
			if err := r.Finalize(); err != nil {
				t.Errorf("rank %d: finalize: %v", i, err)
			}
		})
	}
	running.Wait()
}

// slow makes the data of a cluster's wires much slower than its messages.
func slow(c *transporttest.Cluster) { c.Opts.Pause = 2 * time.Millisecond }

func settings(environ ...string) *config.Set {
	s, err := config.LoadFrom(environ)
	if err != nil {
		panic(err)
	}
	return s
}

// must panics: a rank that gives up would leave the others waiting.
func (r *tr) must(err error) {
	r.Helper()
	if err != nil {
		panic(fmt.Sprintf("rank %d: %v", r.Me, err))
	}
}

// wrong reports a mistake found at this rank.
func (r *tr) wrong(format string, a ...any) {
	r.Helper()
	r.Errorf("rank %d: %s", r.Me, fmt.Sprintf(format, a...))
}

func (r *tr) barrier() { r.Barrier() }

// alloc is Malloc on the world.
func (r *tr) alloc(nbytes int64) []uintptr {
	r.Helper()
	addrs, err := r.Malloc(r.group(World), nbytes)
	r.must(err)
	return addrs
}

func (r *tr) group(id int) *Group {
	r.Helper()
	g, err := r.Group(id)
	r.must(err)
	return g
}

// local is private memory of the rank.
func (r *tr) local(nbytes int) uintptr { return r.c.Private(int(r.Me), nbytes) }

func memory(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }

func long(addr uintptr) *int64 { return (*int64)(kernel.Ptr(addr)) }

// op makes a contiguous operation.
func op(kind Kind, proc int, local, remote uintptr, nbytes int) *Op {
	return &Op{Kind: kind, Proc: proc,
		Xfer: transport.Xfer{Local: transport.Section{Base: local},
			Remote: transport.Section{Base: remote}, Count: []int32{int32(nbytes)}}}
}

// accOf makes an operation an accumulate of longs.
func accOf(o *Op, scale *int64) *Op {
	o.Kind, o.AccCode, o.Scale.Value = Acc, 42, unsafe.Pointer(scale)
	return o
}

// wantArg holds an error to the argument it names, its code and a part of its text.
func wantArg(t testing.TB, what string, err error, arg string, code int, text string) {
	t.Helper()
	var e *ArgError
	if !errors.As(err, &e) {
		t.Errorf("%s: %v is no mistake of the caller", what, err)
		return
	}
	if e.Arg != arg || e.Code != code || CodeOf(err) != code ||
		!strings.Contains(e.Text, text) {
		t.Errorf("%s: argument %q, code %d, %q; expected %q, %d, %q", what, e.Arg, e.Code,
			e.Text, arg, code, text)
	}
	if e.Arg != "" && !strings.HasPrefix(err.Error(), e.Arg+": ") {
		t.Errorf("%s: %q does not begin with the argument", what, err)
	}
}

// logged collects what is logged during the test.
func logged(t *testing.T) func() string {
	var mu sync.Mutex
	var lines strings.Builder
	t.Cleanup(log.SetSink(func(line []byte) {
		mu.Lock()
		defer mu.Unlock()
		lines.Write(line)
	}))
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return lines.String()
	}
}

// open counts the operations in the table, or handles that stand for several.
func (r *tr) open() int { return len(r.handleTable.firstOfHandle) + len(r.handleTable.implicitOps) }
