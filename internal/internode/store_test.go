// SPDX-License-Identifier: BSD-3-Clause

// What a data server tells its node of stores.
package internode

import (
	"sync"
	"sync/atomic"
	"testing"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/transport"
)

// storeRecorder is a node that counts what its server records.
type storeRecorder struct {
	transport.NodeMemory
	stores atomic.Int32
}

func (r *storeRecorder) RecordStore(local int) { r.stores.Add(1 + 100*int32(local)) }

// TestStoresAreRecorded shows that a server wakes the threads of a rank that wait for stores,
// behind each put, accumulate and read-modify-write, and for nothing else.
func TestStoresAreRecorded(t *testing.T) {
	var mu sync.Mutex
	var nodes []*storeRecorder
	_, c, at := newServed(t, pipe.Options{}, func(o *Options) {
		r := &storeRecorder{NodeMemory: o.Node}
		o.Node = r
		mu.Lock()
		nodes = append(nodes, r)
		mu.Unlock()
	})
	recorded := func() (n int32) {
		for _, r := range nodes {
			n += r.stores.Load()
		}
		return n
	}
	get := header{kind: kindGet, addr: uint64(at), bytes: 8}
	c.request(get, nil, nil)
	if n := recorded(); n != 0 {
		t.Errorf("a get has recorded %d stores", n)
	}
	c.send(header{kind: kindPut, addr: uint64(at)}, nil, make([]byte, 8))
	c.send(header{kind: kindAcc, op: uint8(kernel.OpSum), what: uint8(kernel.I64),
		addr: uint64(at), bytes: 8}, nil, make([]byte, 8))
	c.request(header{kind: kindRMW, flags: flagWide, addr: uint64(at), arg: 5}, nil, nil)
	c.request(get, nil, nil)
	if n := recorded(); n != 3 {
		t.Errorf("a put, an accumulate and a read-modify-write have recorded %d stores", n)
	}
}
