// SPDX-License-Identifier: BSD-3-Clause

// Tests of locks that a rank holds by its device: when it does, and that the word is as before when
// it does not any more.
package core

import (
	"testing"

	"libarmci/internal/transport"
)

// imageLocks are locks with a word, of which a rank of their node has one if its image begins with 1
// (a reader) or 2.
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

func TestLocksByDevice(t *testing.T) {
	shape{2, 4, true}.run(t, nil, func(r *tr) {
		r.deviceAtomics, r.wordLocks = r.beyond.tr, imageLocks{}
		mem, buf := r.alloc(512), r.local(8)
		r.barrier()
		if host := 1; r.Me == 0 {
			lock, word := mem[host]+128, mem[host]+384
			expect := func(what string, exclusive bool, image byte, there int64, want LockWay) {
				*long(buf) = int64(image)
				r.must(r.Do(op(Put, host, buf, lock, 8)))
				*long(buf) = there
				r.must(r.Do(op(Put, host, buf, word, 8)))
				r.must(r.Fence(host))
				way := r.lockBy(host, lock, word, exclusive)
				if way != want {
					r.wrong("%s, exclusive %v: it is locked in way %d", what, exclusive, way)
				}
				r.must(r.RWUnlockBy(way, host, lock, word, exclusive))
				r.must(r.Do(op(Get, host, buf, word, 8)))
				if *long(buf) != there {
					r.wrong("%s, exclusive %v: the word has %#x", what, exclusive, *long(buf))
				}
			}
			const writer = transport.RWWordWriter
			expect("free", false, 0, 0, LockByDevice)
			expect("free", true, 0, 0, LockByDevice)
			expect("a reader here", false, 1, 0, LockByDevice)
			expect("a reader here", true, 1, 0, LockByServer)
			expect("a writer here", false, 2, 0, LockByServer)
			expect("a writer here", true, 2, 0, LockByServer)
			expect("a reader by device", false, 0, 1, LockByDevice)
			expect("a reader by device", true, 0, 1, LockByServer)
			expect("a writer by device", false, 0, writer, LockByServer)
			expect("a writer by device", true, 0, writer, LockByServer)
			if way := r.lockBy(host, lock, 0, true); way != LockByServer {
				r.wrong("a lock without a word is locked in way %d", way)
			}
			r.must(r.RWUnlock(host, lock, true))
		}
		r.barrier()
	})
}
