// SPDX-License-Identifier: BSD-3-Clause

// Package tcp is the fabric over any IP network: sockets that carry frames between the processes of a job. It must not
// know what frames mean, and must never wait inside Go's network poller.
//
// This file: the fabric of a process, which is opened, connects and is closed.
package tcp

import (
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

// Looking at a socket costs about half a microsecond, so these bound the time until a waiter sleeps: an answer that comes
// within about 100 microseconds is met awake.
const (
	mostLooks  = 200
	leastLooks = 4

	tick = 50 * time.Microsecond // how long small frames are put off
)

// fabric implements transport.Fabric.
type fabric struct {
	transport.FabricConfig
	opt      Options
	straight int // rows of at least so many bytes are not packed
	looks    int
	ln       int    // listening socket, -1 if there is none
	addr     []byte // its address
	buffers  pool[[]byte]
	ends     poller[*endpoint]
}

// open makes the process ready to be connected to, and to connect.
func open(o Options, c transport.FabricConfig) (transport.Fabric, error) {
	f := &fabric{FabricConfig: c, opt: o, ln: -1, looks: leastLooks}
	f.Eager = min(max(f.Eager, 0), bufferBytes-transport.MaxHead-prefixBytes)
	if c.Looks != nil {
		f.looks = min(max(c.Looks(), leastLooks), mostLooks)
	}
	f.straight, _ = o.straightFrom()
	f.buffers.init(newBuffer, max(c.Buffer/2/bufferBytes, leastBuffers))
	err := f.ends.open()
	if err == nil && c.Serves {
		err = f.openSocket()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openSocket makes the socket that others connect to.
func (f *fabric) openSocket() error {
	at, err := f.chooseAddr()
	if err != nil {
		return err
	}
	fd, bound, err := rawsock.Listen(at, f.opt.Ports)
	if err != nil {
		return err
	}
	f.ln, f.addr = fd, []byte(bound.String())
	return rawsock.SetCongestion(fd, f.opt.Congestion) // connections inherit it
}

// Info tells what is constant.
func (f *fabric) Info() transport.FabricInfo {
	return transport.FabricInfo{Addr: f.addr, Looks: f.looks, Tick: tick, Straight: f.straight, Blocks: true}
}

// Dial connects to the data server of a rank.
func (f *fabric) Dial(to transport.Rank, addr []byte, r transport.Receiver) (transport.Endpoint, error) {
	at, err := netip.ParseAddrPort(string(addr))
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(f.Timeout)
	fd, err := rawsock.Connect(at, f.opt.Congestion, f.Timeout, deadline)
	if err == nil {
		e := newEndpoint(f, fd, r)
		if err = f.introduce(fd, to, deadline); err == nil {
			err = f.ends.add(fd, e, forLoss)
		}
		if err == nil {
			return e, nil
		}
		f.ends.remove(fd)
		unix.Close(fd)
	}
	return nil, fmt.Errorf("connect to %s: %w", at, err)
}

// Close ends what is left.
func (f *fabric) Close() error {
	f.ends.close()
	if f.ln >= 0 {
		unix.Close(f.ln)
	}
	return nil
}
