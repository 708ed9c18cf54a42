// SPDX-License-Identifier: BSD-3-Clause

// Loose messages: they go the way from a server to the process they are for, where whoever watches reads them himself,
// or the engine when he has stopped looking.
package tcp

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/transport"
)

func TestWatch(t *testing.T) {
	j := newJob(t, nil, 1, 1)
	j.ConnectAll(t)
	say := func() {
		t.Helper()
		if err := j.tr[0].Send(1, transport.Msg{Kind: 9, Body: []byte("loose"), Loose: true}); err != nil {
			t.Fatal(err)
		}
	}
	await := func(n int) {
		t.Helper()
		for end := soon(); !j.Inbox[1].Has(0, n); time.Sleep(100 * time.Microsecond) {
			if time.Now().After(end) {
				t.Fatalf("message %d has not come", n)
			}
		}
	}
	say() // rank 1 has no wire: the message comes by its server
	await(1)
	if _, err := j.tr[1].Call(0, transport.Msg{}); err != nil { // makes the wire
		t.Fatal(err)
	}
	say()
	time.Sleep(20 * time.Millisecond)
	if j.Inbox[1].Has(0, 2) {
		t.Error("the message came though nobody looked: it went by the server")
	}
	found := false
	j.tr[1].Watch(0, func() bool { found = j.Inbox[1].Has(0, 2); return found })()
	if !found {
		t.Error("who watches does not find what has come")
	}
	end := j.tr[1].Watch(0, func() bool { return j.Inbox[1].Has(0, 3) })
	say() // after he has stopped looking
	await(3)
	end()
	say()
	if _, err := j.tr[1].Call(0, transport.Msg{}); err != nil { // who waits for anything else reads it as well
		t.Fatal(err)
	}
	await(4)
}

// No message is overlooked, whenever it comes.
func TestWatchMissesNothing(t *testing.T) {
	const rounds = 30000
	j := newJob(t, func(o *Options) { o.Spin = func() int { return 0 } }, 1, 1)
	j.ConnectAll(t)
	var users sync.WaitGroup
	defer users.Wait()
	users.Go(func() { // makes the wire while rank 1 waits; from then on nobody else reads it
		time.Sleep(5 * time.Millisecond)
		if _, err := j.tr[1].Call(0, transport.Msg{}); err != nil {
			t.Error(err)
		}
	})
	var wanted atomic.Int32
	users.Go(func() {
		for n := range int32(rounds) {
			for wanted.Load() <= n && !t.Failed() {
				yield()
			}
			j.tr[0].Send(1, transport.Msg{Kind: 9, Loose: true})
		}
	})
	for n := 1; n <= rounds; n++ { // each as soon as the one before has come, while who read that is still about it
		met := func() bool { return j.Inbox[1].Has(0, n) }
		if n%2 > 0 {
			wanted.Store(int32(n))
		}
		end := j.tr[1].Watch(0, met)
		wanted.Store(int32(n))
		for late := soon(); !met(); yield() {
			if time.Now().After(late) {
				t.Fatalf("message %d has not come", n)
			}
		}
		end()
	}
}
