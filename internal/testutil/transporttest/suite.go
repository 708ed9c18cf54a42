// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite that every transport passes: one list of tests for all, run at place 0
// while the other places serve. A transport must refuse operations that it does not support, which
// the suite then checks.
package transporttest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// suite is the conformance suite at place 0. The tests are methods of types that embed it, by the
// kind of operation.
type suite struct {
	end   *End
	info  transport.Info
	memOf []uintptr // by place: End.Mem
}

// Run tests the transport of e, which is place 0 of at least two, and closes it.
func Run(t *testing.T, e *End) {
	if e.Self != 0 || len(e.Ranks) < 2 {
		t.Fatalf("place %d of %d cannot drive", e.Self, len(e.Ranks))
	}
	s := &suite{end: e, info: e.Transport.Info(), memOf: make([]uintptr, len(e.Ranks))}
	defer func() {
		for place := 1; place < len(e.Ranks); place++ {
			s.request(place, command{Do: "stop"})
		}
	}()
	if !t.Run("connect", s.testConnect) {
		return
	}
	for place := range s.memOf {
		s.memOf[place] = s.mustRequest(t, place, command{Do: "mem"}).Addr
	}
	transfers, atomics := transferTests{s}, atomicTests{s}
	messages, remote, updates := messageTests{s}, remoteTests{s}, updateTests{s}
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"info", s.testInfo}, {"contiguous", transfers.testContiguous},
		{"strided", transfers.testStrided}, {"vector", transfers.testVector},
		{"accumulate", atomics.testAcc},
		{"accumulate/contended", atomics.testAccContended},
		{"update", updates.testUpdates}, {"update/order", updates.testUpdateOrder},
		{"update/refused", updates.testRefusedUpdates},
		{"rmw", atomics.wordsOnly(atomics.testRMW)},
		{"rmw/contended", atomics.wordsOnly(atomics.testRMWContended)},
		{"rmw/swap", atomics.wordsOnly(atomics.testSwapContended)},
		{"order", transfers.testOrder}, {"fence", transfers.testFence},
		{"threads", transfers.testThreads}, {"messages", messages.testMessages},
		{"messages/fenced", messages.testMessagesFenced},
		{"messages/unordered", messages.testUnorderedMessages},
		{"messages/threads", messages.testMessageThreads},
		{"messages/size", messages.testMessageSize}, {"calls", remote.testCalls},
		{"fence/several", remote.testFenceSeveral}, {"fence/each", remote.testFenceEach},
		{"arrive", remote.testArrive}, {"later", remote.testLater},
		{"address", remote.testBadAddress},
		// leaves messages behind
		{"update/word", updates.testWordBehindUpdate},
		{"progress", s.testProgress},
		{"close", s.testClose},
	} {
		t.Run(test.name, test.run)
	}
}

// request has a place execute a command, and returns its result.
func (s *suite) request(place int, c command) (result, error) {
	if place == s.end.Self {
		return s.end.execute(c)
	}
	sendJSON(s.end.Control, place, tagCommand, c)
	var a result
	if err := receiveJSON(s.end.Control, s.end.Ranks[place], tagAnswer, &a); err != nil {
		return a, err
	}
	if a.Err != "" {
		return a, errors.New(a.Err)
	}
	return a, nil
}

// mustRequest is request, but fails the test on errors.
func (s *suite) mustRequest(t *testing.T, place int, c command) result {
	t.Helper()
	a, err := s.request(place, c)
	if err != nil {
		t.Fatalf("place %d, %s: %v", place, c.Do, err)
	}
	return a
}

// atEachPlace calls do for all places at the same time.
func (s *suite) atEachPlace(t *testing.T, do func(place int) error) {
	t.Helper()
	var running sync.WaitGroup
	for place := range s.end.Ranks {
		running.Go(func() {
			if err := do(place); err != nil {
				t.Errorf("place %d: %v", place, err)
			}
		})
	}
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// testConnect shows that Connect refuses a rank that cannot be reached.
func (s *suite) testConnect(t *testing.T) {
	stranger := append(s.end.peerAddrs(), transport.PeerAddr{Rank: 1 << 20,
		Addr: []byte("nowhere")})
	if s.end.Transport.Connect(stranger) == nil {
		t.Error("a rank that cannot be reached was accepted")
	}
	if err := s.end.Transport.Connect(s.end.peerAddrs()); err != nil {
		t.Fatal(err)
	}
}

// testInfo shows that Info does not change.
func (s *suite) testInfo(t *testing.T) {
	if s.info.Name == "" {
		t.Errorf("%+v", s.info)
	}
	if now := s.end.Transport.Info(); now.Name != s.info.Name ||
		now.Immediate != s.info.Immediate || string(now.Addr) != string(s.info.Addr) {
		t.Errorf("was %+v, is %+v", s.info, now)
	}
}

// testProgress shows that Progress returns in time.
func (s *suite) testProgress(t *testing.T) {
	for _, wait := range []time.Duration{0, 5 * time.Millisecond} {
		begin := time.Now()
		if n, err := s.end.Transport.Progress(wait); n < 0 || err != nil {
			t.Errorf("Progress(%v): %d, %v", wait, n, err)
		}
		if took := time.Since(begin); took > wait+2*time.Second {
			t.Errorf("Progress(%v) took %v", wait, took)
		}
	}
}

// testClose shows that Close may be called several times.
func (s *suite) testClose(t *testing.T) {
	if s.end.BeforeClose != nil {
		s.end.BeforeClose()
	}
	for range 3 {
		if err := s.end.Transport.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkDoneOnce starts a transfer and checks that Done is called once, without an error; by an
// immediate transport before start returns.
func (s *suite) checkDoneOnce(t *testing.T, start func(*transport.Xfer) error, x *transport.Xfer) {
	t.Helper()
	var mu sync.Mutex
	calls := 0
	done := make(chan error, 8)
	x.Done = func(err error) {
		mu.Lock()
		calls++
		mu.Unlock()
		done <- err
	}
	if err := start(x); err != nil {
		t.Fatalf("refused: %v", err)
	}
	mu.Lock()
	if s.info.Immediate && calls != 1 {
		t.Fatalf("an immediate transport returned after %d calls of Done", calls)
	}
	mu.Unlock()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("not complete after 20 s")
	}
	mu.Lock()
	defer mu.Unlock()
	if calls != 1 {
		t.Fatalf("Done was called %d times", calls)
	}
}
