// SPDX-License-Identifier: BSD-3-Clause

// Private memory that is registered for other processes until its owner releases it. Its mapping is
// not watched, and must stay as it is. So it is refused where pages could go away without a change
// of the mapping: at a fork, or with a file.
package pin

import (
	"errors"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
)

// Share registers memory [lo, hi) for other processes until the caller calls release, or Close. ok
// is false if that is not possible. It locks mu.
func (a *Arena) Share(lo, hi uintptr) (key uint64, release func(), ok bool) {
	if err := checkForkKeepsPinned(); err != nil {
		log.Infof("private memory is reached by messages: %v", err)
		return 0, nil, false
	}
	n := int64(hi - lo)
	r, err := a.device.Register(lo, n, true)
	for errors.Is(err, unix.ENOMEM) && a.cache.Evict(n) {
		r, err = a.device.Register(lo, n, true)
	}
	if err != nil {
		log.Infof("private memory is reached by messages: %v", err)
		return 0, nil, false
	}
	if first, last := Pages(lo, n); !allPrivate(first, last) { // all its pages are present now
		r.Close()
		log.Infof("private memory is reached by messages: it is not anonymous")
		return 0, nil, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shared == nil {
		a.shared = map[Registration]bool{}
	}
	a.shared[r] = true
	return r.Key(), func() { a.unshare(r) }, true
}

// unshare ends a registration, if that is not done yet. It locks mu.
func (a *Arena) unshare(r Registration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shared[r] {
		delete(a.shared, r)
		if err := r.Close(); err != nil {
			log.Errorf("memory stays pinned: %v", err)
		}
	}
}
