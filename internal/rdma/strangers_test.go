// SPDX-License-Identifier: BSD-3-Clause

// A stranger sends datagrams of all kinds and lengths, as fast as it can, to the connection
// managers of a job: the first connections are made all the same, soon, and nothing is believed.
package rdma

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

// flood sends datagrams to the managers until it is ended, pausing between them.
func flood(t *testing.T, f *Fabric, to []*Fabric, pause time.Duration) (end func()) {
	mail, err := f.device.NewDatagrams(datagramBuffers)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pin.NewPool(f.bufferRegistrar, datagramBuffers, datagramBytes)
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var sent atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var done [16]qp.Completion
		for !stop.Load() {
			if i := pool.TakeBuffer(); i != noBuffer {
				b := pool.Bytes(i)
				for k := range b {
					b[k] = byte(rand.Uint32())
				}
				b[0] = byte(rand.IntN(4))
				h := transport.Hello{Nonce: transport.NewNonce(),
					Extra: encode(&privateData{Back: f.connManager.address})}
				copy(b[helloOffset:], h.Seal([]byte("guess"), "origin", nil))
				n := 1 + rand.IntN(helloOffset+transport.HelloBytes(len(h.Extra)))
				if mail.Send(uint64(i), f.describeBuffer(pool, i, 0, n),
					&to[rand.IntN(len(to))].connManager.address) != nil {
					pool.Put(i)
				}
				sent.Add(1)
			}
			n, _, _ := mail.WaitCompletions(done[:], int(sys.NoEventFD), pause)
			for _, c := range done[:n] {
				pool.Put(int32(c.ID))
			}
		}
	}()
	return func() {
		stop.Store(true)
		<-ended
		mail.Close()
		pool.Close()
		t.Logf("%d datagrams", sent.Load())
	}
}

// TestStrangerDatagrams: two connections are made in time while a stranger floods both managers.
func TestStrangerDatagrams(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Millisecond} {
		t.Run(fmt.Sprint(pause), func(t *testing.T) {
			for range 5 {
				j := newJob(t, nil, 1, 1, 1)
				end := flood(t, j.fabrics[0], j.fabrics[1:], pause)
				near := j.Alloc(t, 0, fieldBytes)
				begin := time.Now()
				for to := 1; to < 3; to++ {
					x := &transport.Xfer{Count: []int32{8},
						Local: transport.Section{Base: near},
						Remote: transport.Section{Base: j.Alloc(t, to,
							fieldBytes)}}
					if err := j.Open[0].Put(transport.Peer(to), x); err != nil {
						t.Error(err)
					}
					if err := j.Open[0].Fence(transport.Peer(to)); err != nil {
						t.Error(err)
					}
				}
				if took := time.Since(begin); took > 4*time.Second {
					t.Errorf("two connections took %v", took)
				} else {
					t.Logf("two connections took %v", took)
				}
				end()
				j.CloseAll()
			}
		})
	}
}
