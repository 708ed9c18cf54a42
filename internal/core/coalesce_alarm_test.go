// SPDX-License-Identifier: BSD-3-Clause

// Coalescing: alarms, errors and threads.
package core

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// One error is told once, whenever it happens, and leaves nothing open.
func TestCoalesceError(t *testing.T) {
	var fails atomic.Int32
	later := func(what string, _ transport.Peer) error {
		if what == "get" && fails.Add(-1) == 0 {
			return transport.ErrNoMemory
		}
		return nil
	}
	for _, at := range []string{"post", "later"} {
		coalesced(t, func(c *transporttest.Cluster) {
			c.Wire.Eager = 0
			if at == "post" {
				flaky(later, nil)(c)
			} else {
				flaky(nil, later)(c)
			}
		}, func(r *tr, mem []uintptr, buf uintptr) {
			for _, implicit := range []bool{false, true} {
				fails.Store(2)
				r.c.Between.Hold()
				var get, hdl int32
				batch := &hdl
				if implicit {
					batch = nil
				}
				r.begin(&get, word(Get, mem, buf, 0))
				for i := range 3 {
					r.begin(batch, word(Get, mem, buf, i+1))
				}
				r.c.Between.Release()
				wait := func() error {
					return errors.Join(r.Wait(get), r.Wait(hdl), r.WaitAll())
				}
				err := wait() // the operations end in any order
				if !errors.Is(err, transport.ErrNoMemory) || fails.Load() > 0 {
					r.wrong("%s, implicit %v: %v", at, implicit, err)
				}
				if err := wait(); err != nil {
					r.wrong("%s, implicit %v, again: %v", at, implicit, err)
				}
				if s := &r.coalescing.coalescers[1]; s.outstanding.Load() != 0 {
					r.wrong("%d answers are expected", s.outstanding.Load())
				}
			}
		})
	}
}

// alarm is a transport's, rung by the test.
type alarm []func()

func (a *alarm) CallLater(f func()) { *a = append(*a, f) }

func (a *alarm) ring() {
	for _, f := range *a {
		f()
	}
	*a = nil
}

// A put is not answered: an alarm has the following ones posted. It is not set for a while after it
// was for few puts.
func TestCoalescePuts(t *testing.T) {
	coalesced(t, nil, func(r *tr, mem []uintptr, buf uintptr) {
		var a alarm
		r.internode.alarm = &a
		var hdl [100]int32
		for i := range hdl {
			*long(buf + 8*uintptr(i)) = int64(i) + 500
			r.begin(&hdl[i], word(Put, mem, buf, i))
		}
		if hdl[0] != Done || hdl[1] == Done || hdl[99] != hdl[1] || len(a) != 1 {
			r.wrong("handles %v, %d alarms", hdl, len(a))
		}
		r.count("put", 1)
		a.ring()
		r.posted()
		r.count("put vector", 1)
		for i := range hdl {
			r.must(r.Wait(hdl[i]))
		}
		r.must(r.Fence(1))
		for i := range uintptr(len(hdl)) {
			if v := *long(mem[1] + 8*i); v != int64(i)+500 {
				r.wrong("word %d is %d", i, v)
			}
		}
		alarms := 0
		for range 1000 { // each followed by a fence
			r.begin(&hdl[0], word(Put, mem, buf, 0))
			r.begin(&hdl[1], word(Put, mem, buf, 0))
			r.must(r.Wait(hdl[0]))
			r.must(r.Wait(hdl[1]))
			r.must(r.Fence(1))
			alarms += len(a)
			a.ring()
		}
		if alarms > 10 {
			r.wrong("%d alarms", alarms)
		}
		r.internode.alarm = nil
	})
}

// After a batch of many gets the next one is collected, too, and an alarm has it posted; after one
// of few it is posted at once.
func TestCoalesceFirstGet(t *testing.T) {
	coalesced(t, nil, func(r *tr, mem []uintptr, buf uintptr) {
		var a alarm
		r.internode.alarm = &a
		var hdl [20]int32
		for _, c := range []struct{ gets, posted int }{{20, 1}, {20, 0}, {2, 0}, {1, 1}} {
			n, was := c.gets, r.c.Between.Count("get")
			r.c.Between.Hold()
			for i := range n {
				r.begin(&hdl[i], word(Get, mem, buf, i))
			}
			r.count("get", was+c.posted)
			if len(a) != 1-c.posted {
				r.wrong("%d alarms with %d gets", len(a), n)
			}
			r.c.Between.Release()
			a.ring()
			r.posted()
			for i := range n {
				r.must(r.Wait(hdl[i]))
			}
			r.got(buf, n)
			clear(memory(buf, 8*n))
		}
		r.internode.alarm = nil
	})
}

// Several threads begin and wait at the same time.
func TestCoalesceThreads(t *testing.T) {
	coalesced(t, nil, func(r *tr, mem []uintptr, buf uintptr) {
		var running sync.WaitGroup
		for k := range 4 {
			running.Go(func() {
				for round := range 100 {
					var hdl [8]int32
					for i := range hdl {
						h := []*int32{&hdl[i], nil}[k%2]
						r.begin(h, word(Get, mem, buf, 8*k+i))
					}
					for i := range hdl {
						if k%2 == 0 {
							r.must(r.Wait(hdl[i]))
						}
					}
					if k%2 == 1 {
						r.must(r.WaitProc(1))
					}
					for i := range hdl {
						n := 8*k + i
						p := long(buf + 8*uintptr(n))
						if *p != int64(n)+1000 {
							r.wrong("round %d: word %d is %d", round, n,
								*p)
						}
						*p = -1
					}
				}
			})
		}
		running.Wait()
	})
}
