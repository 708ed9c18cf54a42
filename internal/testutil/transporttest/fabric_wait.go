// SPDX-License-Identifier: BSD-3-Clause

// Waiting in the fabric suite: Sleep and Interrupt of one source, Wait, Attend and Wake of a
// progress thread. No wake-up may be lost. The tests poll the origin's source themselves; the
// target posts.
package transporttest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// Returns fails the test if do does not return.
func Returns(t testing.TB, what string, do func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		do()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("%s does not return", what)
	}
}

// manualPair is connectPair of a new job in which the test polls the origin's source.
func manualPair(t testing.TB, d transport.Driver) (j *fabricJob, o, target *fabricEnd) {
	j = newFabricJob(t, d, 2)
	j.manualPolling = true
	j.openAll()
	o, target = j.connectPair()
	return j, o, target
}

// frameCount is the number of frames that have arrived and were not taken.
func (e *fabricEnd) frameCount() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.frames)
}

// pollUntil polls the source, without sleeping, until that many frames have arrived.
func (e *fabricEnd) pollUntil(frames int) {
	e.t.Helper()
	for end := time.Now().Add(patience); e.frameCount() < frames; {
		if e.originEndpoint().Source().Poll(10); time.Now().After(end) {
			e.t.Fatalf("%d frames of %d have come", e.frameCount(), frames)
		}
	}
}

// fabricWait shows what ends Wait: Wake, the limit, and arrivals at attended sources, which are
// listed once.
func fabricWait(t *testing.T, d transport.Driver) {
	j, o, target := manualPair(t, d)
	f, s := j.procs[0].fabric, o.originEndpoint().Source()
	f.Wake()
	Returns(t, "Wait after Wake", func() { f.Wait(-1, nil) })
	Returns(t, "Wait with Wake", func() {
		go func() {
			time.Sleep(5 * time.Millisecond)
			f.Wake()
		}()
		f.Wait(-1, nil)
	})
	Returns(t, "Wait with a limit", func() { f.Wait(5*time.Millisecond, nil) })
	for round := range 5 {
		f.Attend(s)
		for s.Poll(0) > 0 {
		}
		target.postFrame([]byte{headPosted, 1}, nil)
		memory := make([]transport.Source, 0, 4)
		for listed := false; !listed; {
			Returns(t, "Wait", func() { memory = f.Wait(patience, memory) })
			listed = slices.Contains(memory, s)
			if len(memory) > 0 && !listed {
				t.Fatal("Wait lists a source that was never attended")
			}
		}
		target.postFrame([]byte{headPosted, 2}, noise(1, 100))
		for range 3 {
			if again := f.Wait(2*time.Millisecond, memory); len(again) > 0 {
				t.Fatalf("round %d: a source that was listed is listed again",
					round)
			}
		}
		o.pollUntil(2)
		if got := o.takeFrames(2); got[0].head[1] != 1 || got[1].head[1] != 2 {
			t.Errorf("%v", got)
		}
	}
}

// fabricWakeUps shows that a progress thread is woken for every frame.
func fabricWakeUps(t *testing.T, d transport.Driver) {
	const n = 400
	j, o, target := manualPair(t, d)
	f, s := j.procs[0].fabric, o.originEndpoint().Source()
	heard := make(chan struct{})
	go func() {
		for i := range n {
			target.postFrame(numberedHead(headPosted, 0, i), frameBody(0, i, 100))
			<-heard
			if i%8 == 0 {
				time.Sleep(time.Duration(i%5) * 100 * time.Microsecond)
			}
		}
	}()
	var ready []transport.Source
	for i := range n {
		for o.frameCount() == 0 {
			f.Attend(s)
			if s.Poll(0) > 0 {
				continue
			}
			begin := time.Now()
			ready = f.Wait(patience, ready)
			if len(ready) == 0 && time.Since(begin) >= patience {
				t.Fatalf("nobody was woken for frame %d", i)
			}
			for _, r := range ready {
				r.Poll(0)
			}
		}
		checkFrame(t, o.takeFrames(1)[0], numberedHead(headPosted, 0, i), frameBody(0, i,
			100))
		heard <- struct{}{}
	}
}

// fabricWaitLost shows that Wait lists a source whose connection is lost, even if it is not
// attended.
func fabricWaitLost(t *testing.T, d transport.Driver) {
	for i, end := range []func(o, target *fabricEnd){
		func(_, target *fabricEnd) { target.ep.Break() },
		func(o, _ *fabricEnd) { o.ep.Break() },
		func(_, target *fabricEnd) { // something comes before the end
			target.postFrame([]byte{headPosted}, noise(1, 100))
			target.proc.closeProcess()
		},
	} {
		j, o, target := manualPair(t, d)
		f := j.procs[0].fabric
		var ending sync.WaitGroup
		ending.Go(func() {
			time.Sleep(3 * time.Millisecond)
			end(o, target)
		})
		lost := func() bool {
			o.mu.Lock()
			defer o.mu.Unlock()
			return len(o.lostErrors) > 0
		}
		for begin := time.Now(); !lost(); {
			for _, s := range f.Wait(patience, nil) {
				s.Poll(0)
			}
			if time.Since(begin) >= patience {
				t.Fatal("Wait does not list a source whose connection is lost")
			}
		}
		if ending.Wait(); i < 2 {
			target.waitLost()
		} else {
			o.takeFrames(1)
		}
	}
}

// fabricSleep shows what ends Sleep: Interrupt, the limit, an arrival, and the loss of the
// connection.
func fabricSleep(t *testing.T, d transport.Driver) {
	_, o, target := manualPair(t, d)
	s := o.originEndpoint().Source()
	quiet := func() {
		for s.Poll(0) > 0 {
		}
	}
	quiet()
	s.Interrupt()
	Returns(t, "Sleep after Interrupt", func() { s.Sleep(-1) })
	Returns(t, "Sleep with Interrupt", func() {
		go func() {
			time.Sleep(5 * time.Millisecond)
			s.Interrupt()
		}()
		s.Sleep(-1)
	})
	Returns(t, "Sleep with a limit", func() { s.Sleep(5 * time.Millisecond) })
	for i := range 100 {
		go func() {
			time.Sleep(time.Duration(i%4) * 100 * time.Microsecond)
			target.postFrame(numberedHead(headPosted, 0, i), frameBody(0, i, 100))
		}()
		Returns(t, "Sleep while a frame comes", func() {
			for o.frameCount() == 0 {
				if s.Poll(0) == 0 {
					s.Sleep(-1)
				}
			}
		})
		checkFrame(t, o.takeFrames(1)[0], numberedHead(headPosted, 0, i), frameBody(0, i,
			100))
	}
	go target.ep.Break()
	Returns(t, "Sleep while the connection is lost", func() {
		for lost := false; !lost; {
			if s.Poll(0) == 0 {
				s.Sleep(-1)
			}
			o.mu.Lock()
			lost = len(o.lostErrors) > 0
			o.mu.Unlock()
		}
	})
}
