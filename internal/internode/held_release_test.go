// SPDX-License-Identifier: BSD-3-Clause

// A server that acknowledges a release only when the test says so.
package internode

import (
	"testing"
	"time"

	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// heldRelease is a rank and a server that acknowledges a release only when the test says so.
type heldRelease struct {
	t        *testing.T
	net      *pipe.Net
	ends     *transporttest.Ends
	s        *rawProcess
	sendKind func(kind)  // sends a frame to the rank
	releases chan func() // functions that acknowledge a release
}

// newHeldRelease opens the two ranks and connects them.
func newHeldRelease(t *testing.T) *heldRelease {
	leaktest.Check(t)
	h := &heldRelease{t: t, net: pipe.New(pipe.Options{}), releases: make(chan func(), 1)}
	ends, found := newMixed(t, h.net, nil, 2, 1)
	h.ends, h.s = ends, found[1]
	handled := uint32(0)
	h.s.serve = func(_ *rawProcess, e transport.TargetEndpoint, f rawFrame) {
		handled++
		answer := header{kind: kindReply, id: f.id, handled: handled}
		h.sendKind = func(k kind) { e.Post((&header{kind: k}).append(nil), nil) }
		if f.kind == kindReleaseStart {
			answer.kind, handled = kindReleaseAck, 0
			h.releases <- func() { e.Post(answer.append(nil), nil) }
			return
		}
		if f.id != 0 {
			e.Post(answer.append(nil), nil)
		}
	}
	if err := h.callNode(); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *heldRelease) callNode() error {
	_, err := h.ends.Open[0].Call(1, transport.Msg{})
	return err
}

// callAsync makes a call from another thread.
func (h *heldRelease) callAsync() chan error {
	called := make(chan error, 1)
	go func() { called <- h.callNode() }()
	return called
}

// beginRelease has the rank start a release, and returns the function that acknowledges it.
func (h *heldRelease) beginRelease() (answer func()) {
	h.t.Helper()
	releaseLinkOf(h.t, h.ends.Open[0], 1, linkReleasing)
	return <-h.releases
}

// awaitCall waits for the end of a call.
func (h *heldRelease) awaitCall(called chan error) error {
	h.t.Helper()
	select {
	case err := <-called:
		return err
	case <-time.After(patience):
		h.t.Fatal("the call hangs")
		return nil
	}
}

// expectBlocked fails if a call ends although the release was not acknowledged yet.
func (h *heldRelease) expectBlocked(called <-chan error) {
	h.t.Helper()
	select {
	case err := <-called:
		h.t.Fatalf("the call does not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
}
