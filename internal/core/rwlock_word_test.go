// SPDX-License-Identifier: BSD-3-Clause

// Tests of locks that a rank holds by its device: when it does, and that the word is as before when
// it does not any more.
package core

import (
	"testing"

	"libarmci/internal/transport"
)

// imageLocks are locks with a word. The image of one begins with 1 if a rank of its node reads, and
// with 2 if one writes.
type imageLocks struct{}

func (imageLocks) NameRWWord(l, word uintptr) {}

func (imageLocks) RWTaken(image []byte, exclusive bool) bool {
	return image[0] == 2 || exclusive && image[0] == 1
}

// lockBy locks and tells how.
func (r *tr) lockBy(proc int, lock, word uintptr, exclusive bool) LockWay {
	r.Helper()
	way, err := r.RWLockBy(proc, lock, word, exclusive)
	r.must(err)
	return way
}

// store puts a long.
func (r *tr) store(proc int, buf, at uintptr, x int64) {
	r.Helper()
	*long(buf) = x
	r.must(r.Do(op(Put, proc, buf, at, 8)))
	r.must(r.Fence(proc))
}

// lockByWord is a lock of another node with its word.
type lockByWord struct {
	*tr
	host            int
	buf, lock, word uintptr
}

// expect locks and unlocks where the image begins so, and the word has that.
func (l lockByWord) expect(beside string, exclusive bool, image byte, has int64, want LockWay) {
	l.Helper()
	l.store(l.host, l.buf, l.lock, int64(image))
	l.store(l.host, l.buf, l.word, has)
	way := l.lockBy(l.host, l.lock, l.word, exclusive)
	if way != want {
		l.wrong("%s, exclusive %v: it is locked in way %d", beside, exclusive, way)
	}
	l.must(l.RWUnlockBy(way, l.host, l.lock, l.word, exclusive))
	l.must(l.Do(op(Get, l.host, l.buf, l.word, 8)))
	if got := *long(l.buf); got != has {
		l.wrong("%s, exclusive %v: the word has %#x", beside, exclusive, got)
	}
}

// A lock without rivals is taken by the device; with one in the way the server takes it.
func TestLocksByDevice(t *testing.T) {
	shape{2, 4, true}.run(t, nil, func(r *tr) {
		r.deviceAtomics, r.wordLocks = r.internode.tr, imageLocks{}
		mem, buf := r.alloc(512), r.local(8)
		r.barrier()
		if host := 1; r.Me == 0 {
			l := lockByWord{r, host, buf, mem[host] + 128, mem[host] + 384}
			const writer = transport.RWWordWriter
			l.expect("free", false, 0, 0, LockByDevice)
			l.expect("free", true, 0, 0, LockByDevice)
			l.expect("a reader here", false, 1, 0, LockByDevice)
			l.expect("a reader here", true, 1, 0, LockByServer)
			l.expect("a writer here", false, 2, 0, LockByServer)
			l.expect("a writer here", true, 2, 0, LockByServer)
			l.expect("a reader by device", false, 0, 1, LockByDevice)
			l.expect("a reader by device", true, 0, 1, LockByServer)
			l.expect("a writer by device", false, 0, writer, LockByServer)
			l.expect("a writer by device", true, 0, writer, LockByServer)
			if way := r.lockBy(host, l.lock, 0, true); way != LockByServer {
				r.wrong("a lock without a word is locked in way %d", way)
			}
			r.must(r.RWUnlock(host, l.lock, true))
		}
		r.barrier()
	})
}
