// SPDX-License-Identifier: BSD-3-Clause

// Ranks join while strangers connect over the same network, at full speed, from several addresses,
// and say a part of a hello.
package jobserver

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/testutil/leaktest"
)

// flood connects until ctx ends, from count addresses in turn, and keeps some connections open.
func flood(ctx context.Context, addr string, count int, said []byte, made *atomic.Int64) {
	var held [500]net.Conn
	for i := 0; ctx.Err() == nil; i++ {
		slot := &held[i%len(held)]
		if *slot != nil {
			(*slot).(*net.TCPConn).SetLinger(0) // no port stays in use
			(*slot).Close()
		}
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, byte(1 + i%count)}),
			0)
		d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(from), Timeout: time.Second}
		c, err := d.DialContext(ctx, "tcp", addr)
		if *slot = nil; err == nil {
			*slot = c
			made.Add(1)
			c.Write(said) // the server may have closed it
		}
	}
	for _, c := range held {
		if c != nil {
			c.Close()
		}
	}
}

// Ranks join while strangers connect all the time, whatever bytes these send.
func TestRanksJoinAmongStrangers(t *testing.T) {
	const ranks, floods = 8, 3
	hello := jobwire.NewHello(jobwire.NewSecret(), jobwire.Hello, jobwire.NewNonce(), 0, ranks)
	whole, _ := jobwire.Encode(jobwire.Hello, hello)
	for _, said := range []int{0, len(whole) - 1, len(whole)} {
		t.Run(fmt.Sprint(said), func(t *testing.T) {
			leaktest.Check(t)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			s := NewRemote(ranks, 0, func(int, int, []int) {},
				func(_ int, c net.Conn) { c.Close() }, []net.Listener{l})
			t.Cleanup(func() { s.Close() })
			ctx, stop := context.WithCancel(context.Background())
			var strangers, joining sync.WaitGroup
			var made atomic.Int64
			for i := range floods {
				strangers.Go(func() {
					flood(ctx, s.Addr(0), 1+3*i, whole[:said],
						&made)
				})
			}
			time.Sleep(100 * time.Millisecond) // the queue is full
			begin := time.Now()
			for rank := range ranks {
				joining.Go(func() {
					c, err := jobwire.Join(s.Addr(0), patience, s.Secret(),
						jobwire.Hello, rank, ranks)
					if err != nil {
						t.Errorf("rank %d: %v", rank, err)
						return
					}
					defer c.Close()
					if err := jobwire.Write(c, jobwire.Bye, nil); err != nil {
						t.Errorf("rank %d says bye: %v", rank, err)
					} else if _, err := jobwire.Read(c,
						jobwire.Done); err != nil {
						t.Errorf("rank %d says bye: %v", rank, err)
					}
				})
			}
			joining.Wait()
			t.Logf("%d ranks joined in %v; strangers made %d connections", ranks,
				time.Since(begin), made.Load())
			stop()
			strangers.Wait()
		})
	}
}
