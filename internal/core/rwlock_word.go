// SPDX-License-Identifier: BSD-3-Clause

// Reader/writer locks of another node that this rank holds by its device's atomics: while no other
// rank is in the way, no process of that node has to act. rwlock.h of shm has the protocol. A rank
// has a few words for its locks, since memory stays declared for devices for good.
package core

import (
	"sync"
	"unsafe"

	"libarmci/internal/transport"
)

// LockWay is how a lock of another node was taken. RWUnlockBy needs it.
type LockWay int

const (
	LockByServer LockWay = iota // by its data server, or on this node
	LockByDevice                // by its word
)

// lockWords are the words of this rank's locks. mu guards them.
type lockWords struct {
	mu        sync.Mutex // guards the rest
	allocated bool
	freeWords []uintptr
}

// A word has a cache line: devices of several nodes change it.
const (
	numLockWords  = 256
	lockWordBytes = 64
)

// AddLockWord gives a lock of this rank, which no other rank knows yet, a word. It returns the
// word's address, or 0 if all words are in use. It locks lockWords.mu.
func (wl *windowLocks) AddLockWord(lock uintptr) uintptr {
	w := &wl.lockWords
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.allocated {
		w.allocated = true
		w.freeWords = wl.makeLockWords()
	}
	n := len(w.freeWords)
	if n == 0 {
		return 0
	}
	word := w.freeWords[n-1]
	w.freeWords = w.freeWords[:n-1]
	zeroMemory(word, 8)
	wl.rt.wordLocks.NameRWWord(lock, word)
	return word
}

// FreeLockWord ends the use of a word. The caller ensures that no rank holds the lock. It locks
// lockWords.mu.
func (wl *windowLocks) FreeLockWord(word uintptr) {
	w := &wl.lockWords
	w.mu.Lock()
	defer w.mu.Unlock()
	w.freeWords = append(w.freeWords, word)
}

// makeLockWords allocates the words and declares them for device atomics; nil if it cannot.
func (wl *windowLocks) makeLockWords() (words []uintptr) {
	if wl.rt.deviceAtomics == nil || wl.rt.wordLocks == nil ||
		wl.rt.internode.wordWriter == nil {
		return nil
	}
	const nbytes = numLockWords * lockWordBytes
	base, err := wl.rt.MallocLocal(nbytes) // for as long as the rank lives
	if err != nil {
		return nil
	}
	if !wl.rt.allocator.Declare(base, nbytes) {
		wl.rt.FreeLocal(base)
		return nil
	}
	for i := range uintptr(numLockWords) {
		words = append(words, base+i*lockWordBytes)
	}
	return words
}

// RWLockBy is RWLock for a lock with a word; 0: it has none. It returns how the lock is held, which
// RWUnlockBy needs to know.
func (wl *windowLocks) RWLockBy(proc int, lock, word uintptr, exclusive bool) (LockWay, error) {
	able := word != 0 && wl.rt.deviceAtomics != nil && wl.rt.wordLocks != nil
	if able && !wl.rt.Topo.SameNode(transport.Rank(proc)) {
		if got, err := wl.lockByDevice(proc, lock, word, exclusive); got || err != nil {
			return LockByDevice, err
		}
	}
	return LockByServer, wl.RWLock(proc, lock, exclusive)
}

// RWUnlockBy is RWUnlock of a lock that is held so.
func (wl *windowLocks) RWUnlockBy(way LockWay, proc int, lock, word uintptr, exclusive bool) error {
	if way != LockByDevice {
		return wl.RWUnlock(proc, lock, exclusive)
	}
	err := wl.rt.Fence(proc)
	if e := wl.releaseLockWord(proc, word,
		exclusive); err == nil { // after an error of the fence, too
		err = e
	}
	return err
}

// lockByDevice takes a lock if no other rank has it or waits for it. false: another rank is in the
// way, and the caller requests the lock from the server.
func (wl *windowLocks) lockByDevice(proc int, lock, word uintptr, exclusive bool) (got bool,
	err error) {
	x := transport.RMW{Op: transport.FetchAdd, Bytes: 8, Addr: word, Operand: 1}
	if exclusive {
		x.Op, x.Operand = transport.CompareAndSwap, transport.RWWordWriter
	}
	if err := wl.rt.RMW(proc, &x); err != nil || exclusive && x.Old != 0 {
		return false, err
	}
	taken := x.Old >= transport.RWWordWriter
	if !taken {
		taken, err = wl.isLockTaken(proc, lock, exclusive)
	}
	if !taken && err == nil {
		return true, nil
	}
	if e := wl.releaseLockWord(proc, word, exclusive); err == nil {
		err = e
	}
	return false, err
}

// releaseLockWord takes this rank's share out of a lock's word.
func (wl *windowLocks) releaseLockWord(proc int, word uintptr, exclusive bool) error {
	x := transport.RMW{Op: transport.FetchAdd, Bytes: 8, Addr: word, Operand: -1}
	if exclusive {
		x.Operand = -transport.RWWordWriter
	}
	return wl.rt.RMW(proc, &x)
}

// lockImages is memory for copies of locks, for reuse.
var lockImages = sync.Pool{New: func() any { return new([maxLockImage]byte) }}

const maxLockImage = 256

// isLockTaken reads a lock, and tells whether a rank of the lock's node is in the way.
func (wl *windowLocks) isLockTaken(proc int, lock uintptr, exclusive bool) (taken bool, err error) {
	image := lockImages.Get().(*[maxLockImage]byte)
	defer lockImages.Put(image)
	n := wl.rt.rwlocks.RWLockBytes()
	o := NewOp()
	o.Kind, o.Proc, o.Trusted = Get, proc, true
	o.Xfer.Local.Base, o.Xfer.Remote.Base = uintptr(unsafe.Pointer(image)), lock
	o.Xfer.Count = append(o.Xfer.Count[:0], int32(n))
	if err := wl.rt.Do(o); err != nil {
		return false, err
	}
	o.Release()
	return wl.rt.wordLocks.RWTaken(image[:n], exclusive), nil
}
