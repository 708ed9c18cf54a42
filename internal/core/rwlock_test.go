// SPDX-License-Identifier: BSD-3-Clause

// Reader/writer locks and events from all nodes: exclusion, readers together, no rank starves,
// unlocking completes stores, an event arrives behind data; and mistakes of callers and messages.
package core

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// Writers count in memory that only the lock protects; readers find two words always equal, and
// read at the same time.
func TestRWLocksAcrossNodes(t *testing.T) {
	for _, s := range append(shapes, shape{16, 16, false}) {
		t.Run(s.String(), func(t *testing.T) {
			var writers, readers, most atomic.Int32
			s.run(t, nil, func(r *tr) {
				const rounds = 30
				mem, buf := r.alloc(4096), r.local(16)
				host := r.N - 1
				lock, words := mem[host]+1024, mem[host]+2048
				writes := 0
				for i := range rounds {
					exclusive := (i+int(r.Me))%3 == 0
					r.must(r.RWLock(host, lock, exclusive))
					if exclusive {
						if writers.Add(1) != 1 || readers.Load() != 0 {
							r.wrong("a writer is not alone")
						}
					} else {
						most.Store(max(most.Load(), readers.Add(1)))
						if writers.Load() != 0 {
							r.wrong("a reader is in with a writer")
						}
					}
					r.must(r.Do(op(Get, host, buf, words, 16)))
					if a, b := *long(buf), *long(buf + 8); a != b {
						r.wrong("a holder finds %d and %d", a, b)
					}
					if exclusive {
						*long(buf)++
						*long(buf + 8)++
						r.must(r.Do(op(Put, host, buf, words, 8)))
						r.must(r.Do(op(Put, host, buf+8, words+8, 8)))
						writes++
						writers.Add(-1)
					} else {
						readers.Add(-1)
					}
					r.must(r.RWUnlock(host, lock, exclusive))
				}
				r.must(r.WaitAll())
				r.barrier()
				if int(r.Me) == host && *long(words) != int64(rounds/3*r.N) {
					r.wrong("%d writes are counted, expected %d", *long(words),
						rounds/3*r.N)
				}
				r.barrier()
				r.lockServer.mu.Lock()
				defer r.lockServer.mu.Unlock()
				if len(r.lockServer.queues) != 0 {
					r.wrong("%d lines are left", len(r.lockServer.queues))
				}
			})
			t.Logf("up to %d readers at a time", most.Load())
		})
	}
}

// All ranks hold a lock as readers at once; a writer of each node then waits for all of them.
func TestReadersTogether(t *testing.T) {
	everyShape(t, func(r *tr) {
		mem := r.alloc(4096)
		for range 3 {
			r.must(r.RWLock(0, mem[0], false))
			r.barrier() // it would not end if they excluded each other
			var running sync.WaitGroup
			var in atomic.Bool
			running.Go(func() {
				r.must(r.RWLock(0, mem[0], true))
				in.Store(true)
				r.must(r.RWUnlock(0, mem[0], true))
			})
			if time.Sleep(2 * time.Millisecond); in.Load() {
				r.wrong("a writer is in with readers")
			}
			r.must(r.RWUnlock(0, mem[0], false))
			running.Wait()
			r.barrier()
		}
	})
}

// More callers than may queue at a time, of both kinds.
func TestRWLockLine(t *testing.T) {
	shape{2, 2, false}.run(t, nil, func(r *tr) {
		mem := r.alloc(4096)
		if r.Me == 0 {
			r.must(r.RWLock(0, mem[0], true))
		}
		r.barrier()
		var running sync.WaitGroup
		var entered, writers atomic.Int32
		if r.Me == 1 {
			for i := range 4 * maxServingGoroutines {
				running.Go(func() {
					exclusive := i%2 == 0
					r.must(r.RWLock(0, mem[0], exclusive))
					entered.Add(1)
					if n := writers.Load(); n != 0 {
						r.wrong("a writer is in with another")
					}
					if exclusive {
						writers.Add(1)
						time.Sleep(100 * time.Microsecond)
						writers.Add(-1)
					}
					r.must(r.RWUnlock(0, mem[0], exclusive))
				})
			}
			if time.Sleep(10 * time.Millisecond); entered.Load() != 0 {
				r.wrong("%d got a lock that is held", entered.Load())
			}
		}
		r.barrier()
		if r.Me == 0 {
			r.must(r.RWUnlock(0, mem[0], true))
		}
		running.Wait()
		r.barrier()
	})
}

// Unlocking completes what was stored, by one round trip where messages come behind data: no fence.
func TestRWUnlockCompletes(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		shape{2, 3, false}.run(t, func(c *transporttest.Cluster) {
			c.Wire.Ordered, c.Wire.Pause = ordered, time.Millisecond
		}, func(r *tr) {
			mem, buf := r.alloc(4096), r.local(8)
			r.barrier()
			fences := r.c.Between.Count("fence")
			for i := range int64(10) {
				if r.Me == 2 {
					r.must(r.RWLock(0, mem[0], true))
					*long(buf) = i + 1
					_, err := r.Start(op(Put, 0, buf, mem[0]+2048, 8), true)
					r.must(err)
					sum := []int64{1}
					r.must(r.Update(sumOf(0, mem[0]+2056, sum)))
					r.must(r.RWUnlock(0, mem[0], true))
				}
				r.barrier()
				if a, b := *long(mem[0] + 2048), *long(mem[0] + 2056); r.Me == 0 &&
					(a != i+1 || b != i+1) {
					r.wrong("the words are %d and %d after unlock %d", a, b,
						i+1)
				}
				r.barrier()
			}
			if ordered && r.Me == 0 {
				if n := r.c.Between.Count("fence") - fences; n != 0 {
					r.wrong("%d fences", n)
				}
			}
			r.barrier() // the end of the other ranks has fences
		})
	}
}

// An event is behind what its raiser has stored, at ranks of all nodes, and counts over the
// wrap-around.
func TestEventsAcrossNodes(t *testing.T) {
	everyShape(t, func(r *tr) {
		mem, buf := r.alloc(4096), r.local(8)
		next := (int(r.Me) + 1) % r.N
		first := ^uint32(0) - 10
		count := (*atomic.Uint32)(pointer(mem[r.Me]))
		count.Store(first)
		r.barrier()
		for i := range uint32(40) {
			*long(buf) = int64(i + 1)
			_, err := r.Start(op(Put, next, buf, mem[next]+512, 8), true)
			r.must(err)
			r.must(r.WaitProc(next))
			r.must(r.EventAdd(next, mem[next], 1))
			for count.Load() == first+i {
				changed, err := r.EventWait(mem[r.Me], first+i, -1, "a test")
				r.must(err)
				if !changed {
					r.wrong("the wait ended without a change")
				}
			}
			if got := *long(mem[r.Me] + 512); got < int64(i+1) {
				r.wrong("event %d has come, but the word is %d", i+1, got)
			}
			r.barrier()
		}
		r.must(r.EventAdd(0, mem[0], 3))
		r.must(r.Fence(0))
		r.barrier()
		if want := first + 40 + 3*uint32(r.N); r.Me == 0 && count.Load() != want {
			r.wrong("the count is %d, expected %d", count.Load(), want)
		}
		r.barrier()
	})
}

// Locks and events at addresses that cannot hold them are refused, also by the server.
func TestSyncMistakes(t *testing.T) {
	logged(t) // what the server drops
	shape{2, 4, true}.run(t, nil, func(r *tr) {
		mem := r.alloc(256)
		r.barrier()
		if r.Me == 0 {
			for _, proc := range []int{0, 1, 2} { // mine, of another node, of mine
				for what, lock := range map[string]uintptr{"unaligned": mem[proc] +
					8, "beyond": mem[proc] + 192,
					"another's": mem[(proc+1)%4], "none": 0,
					"no address": ^uintptr(63)} {
					wantArg(r, what, r.RWLock(proc, lock, true), "lock",
						CodeAddress, "is no aligned arena memory")
				}
				wantArg(r, "not held", r.RWUnlock(proc, mem[proc], true), "lock",
					CodeArgument, "is not held in this way")
				wantArg(r, "not held", r.RWUnlock(proc, mem[proc], false), "lock",
					CodeArgument, "is not held in this way")
				r.must(r.RWLock(proc, mem[proc], false))
				wantArg(r, "held as a reader", r.RWUnlock(proc, mem[proc], true),
					"lock", CodeArgument, "is not held in this way")
				r.must(r.RWUnlock(proc, mem[proc], false))
				wantArg(r, "event", r.EventAdd(proc, mem[proc]+2, 1), "event",
					CodeAddress, "is no aligned arena memory")
				wantArg(r, "event", r.EventAdd(proc, 0, 1), "event", CodeArgument,
					"null")
			}
			wantArg(r, "rank", r.RWLock(4, mem[0], true), "proc", CodeProc, "rank 4")
			wantArg(r, "rank", r.RWUnlock(-1, mem[0], true), "proc", CodeProc,
				"rank -1")
			wantArg(r, "rank", r.EventAdd(4, mem[0], 1), "proc", CodeProc, "rank 4")
			for _, m := range []transport.Msg{{Kind: msgRWLock, Body: make([]byte, 8)},
				{Kind: msgRWUnlock, Body: []byte("123456789")}} {
				if answer, err := r.callActive(1, m.Kind, m.Body); err != nil ||
					len(answer) != 0 {
					r.wrong("message %d: %v, %v", m.Kind, answer, err)
				}
			}
			r.must(r.sendActive(1, msgEventAdd, make([]byte, 11)))
			r.must(r.sendActive(1, msgEventAdd, make([]byte, 12)))
			r.must(r.sendActive(1, msgRWLock, make([]byte, 9)))
			wrong := binary.LittleEndian.AppendUint64(nil, uint64(mem[1]+2))
			r.must(r.sendActive(1, msgEventAdd, binary.LittleEndian.AppendUint32(wrong,
				1)))
			_, err := r.EventWait(mem[0]+2, 0, 0, "a test")
			wantArg(r, "wait", err, "event", CodeAddress, "is no aligned memory")
			r.must(r.Fence(1))
		}
		r.barrier()
		if *long(mem[r.Me]) != 0 {
			r.wrong("memory has changed: %#x", *long(mem[r.Me]))
		}
		r.barrier()
	})
}
