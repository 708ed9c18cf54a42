// SPDX-License-Identifier: BSD-3-Clause

// Flaky is a transport that fails at calls chosen by a test. It changes nothing in the data path of
// the transport that it wraps.
package transporttest

import (
	"time"

	"libarmci/internal/transport"
)

// Flaky wraps a transport. Both functions may be nil. Their argument what is the name of the method
// in lower case.
type Flaky struct {
	transport.Transport
	// Fail makes a call fail before it has any effect.
	Fail func(what string, p transport.Peer) error
	// FailLater makes the local completion of a put, get or accumulate fail. The operation
	// itself is carried out.
	FailLater func(what string, p transport.Peer) error
}

// injectedError is the error of Fail, nil if it is not set.
func (f *Flaky) injectedError(what string, p transport.Peer) error {
	if f.Fail == nil {
		return nil
	}
	return f.Fail(what, p)
}

// withLateFailure returns the transfer with a Done that reports the error of FailLater.
func (f *Flaky) withLateFailure(what string, p transport.Peer, x *transport.Xfer) *transport.Xfer {
	if f.FailLater == nil {
		return x
	}
	c, done := *x, x.Done
	c.Done = func(err error) {
		if later := f.FailLater(what, p); later != nil {
			err = later
		}
		if done != nil {
			done(err)
		}
	}
	return &c
}

// Connect may fail, at peer -1.
func (f *Flaky) Connect(peers []transport.PeerAddr) error {
	if err := f.injectedError("connect", -1); err != nil {
		return err
	}
	return f.Transport.Connect(peers)
}

// Put may fail.
func (f *Flaky) Put(p transport.Peer, x *transport.Xfer) error {
	if err := f.injectedError("put", p); err != nil {
		return err
	}
	return f.Transport.Put(p, f.withLateFailure("put", p, x))
}

// Get may fail.
func (f *Flaky) Get(p transport.Peer, x *transport.Xfer) error {
	if err := f.injectedError("get", p); err != nil {
		return err
	}
	return f.Transport.Get(p, f.withLateFailure("get", p, x))
}

// Acc may fail.
func (f *Flaky) Acc(p transport.Peer, x *transport.Xfer, s transport.Scale) error {
	if err := f.injectedError("acc", p); err != nil {
		return err
	}
	return f.Transport.Acc(p, f.withLateFailure("acc", p, x), s)
}

// RMW may fail.
func (f *Flaky) RMW(p transport.Peer, r *transport.RMW) error {
	if err := f.injectedError("rmw", p); err != nil {
		return err
	}
	return f.Transport.RMW(p, r)
}

// Send may fail.
func (f *Flaky) Send(p transport.Peer, m transport.Msg) error {
	if err := f.injectedError("send", p); err != nil {
		return err
	}
	return f.Transport.Send(p, m)
}

// Call may fail.
func (f *Flaky) Call(p transport.Peer, m transport.Msg) ([]byte, error) {
	if err := f.injectedError("call", p); err != nil {
		return nil, err
	}
	return f.Transport.Call(p, m)
}

// Fence may fail, at any of the peers.
func (f *Flaky) Fence(ps ...transport.Peer) error {
	for _, p := range ps {
		if err := f.injectedError("fence", p); err != nil {
			return err
		}
	}
	return f.Transport.Fence(ps...)
}

// Progress may fail, at peer -1.
func (f *Flaky) Progress(wait time.Duration) (int, error) {
	if err := f.injectedError("progress", -1); err != nil {
		return 0, err
	}
	return f.Transport.Progress(wait)
}

var _ transport.Transport = (*Flaky)(nil)
