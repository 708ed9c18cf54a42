// SPDX-License-Identifier: BSD-3-Clause

// How many bytes and how much memory the exchange of a large job costs under armcirun: a rank, and
// the job server for each.
package bootstrap

import (
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
	"testing"

	"libarmci/internal/bootstrap/jobwire"
)

// counted counts what is sent and received on a connection.
type counted struct {
	net.Conn
	in, out *atomic.Int64
}

func (c counted) Read(b []byte) (n int, err error) {
	n, err = c.Conn.Read(b)
	c.in.Add(int64(n))
	return n, err
}

func (c counted) Write(b []byte) (n int, err error) {
	n, err = c.Conn.Write(b)
	c.out.Add(int64(n))
	return n, err
}

// In a job with a node of many ranks, the leaders of other nodes send as much as those of 1,562
// nodes. No rank of the node sends or receives everything more than a few times, whatever its
// place.
func TestBytesOfARank(t *testing.T) {
	const here, others, each, card = 40, 10, 15_000, 60
	s, _ := server(t, here+others)
	jobs := joinAll(t, s, here+others)
	var in, out [here]atomic.Int64
	together(jobs, func(job Job) {
		j := job.(*armcirunJob)
		key := fmt.Sprint(max(j.rank-here, -1))
		if _, _, err := j.Split(key); err != nil {
			t.Error(err)
			return
		}
		mine := make([]byte, each)
		if j.rank < here {
			mine = mine[:card]
			n := &j.node
			if n.parent != nil {
				n.parent = counted{n.parent, &in[j.rank], &out[j.rank]}
			}
			for i, c := range n.children {
				n.children[i] = counted{c, &in[j.rank], &out[j.rank]}
			}
		}
		if _, err := j.GatherNode(make([]byte, card)); err != nil {
			t.Error(err)
		}
		all, err := j.ExchangeLeaders(mine)
		if err != nil || len(all) != others+1 {
			t.Errorf("%d nodes, %v", len(all), err)
		}
	})
	const everything = others*each + here*(card+1) + 1000
	for rank := range here {
		_, children := jobwire.Children(rank, here)
		limit := int64(children*everything + here*(card+1))
		if i, o := in[rank].Load(), out[rank].Load(); i > everything+int64(here*(card+1)) ||
			o > limit || rank > 0 && i < others*each {
			t.Errorf("rank %d with %d children receives %d and sends %d bytes", rank,
				children, i, o)
		}
	}
	together(jobs, func(j Job) { j.Close() })
}

// The job server has some kilobytes for each rank. This is a limit, not a measure.
func TestMemoryOfTheJobServer(t *testing.T) {
	const size = 300
	memory := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc + m.StackInuse)
	}
	s, _ := server(t, size)
	before := memory()
	jobs := joinAll(t, s, size)
	together(jobs, func(j Job) {
		if _, _, err := j.Split(fmt.Sprint(j.Rank() / 8)); err != nil {
			t.Error(err)
		}
		if err := Barrier(j); err != nil {
			t.Error(err)
		}
	})
	each := (memory() - before) / size
	t.Logf("a rank and its part of the server have %d bytes", each)
	if each > 64<<10 {
		t.Errorf("%d bytes for each rank", each)
	}
	together(jobs, func(j Job) { j.Close() })
}
