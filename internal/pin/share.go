// SPDX-License-Identifier: BSD-3-Clause

// Private memory that is registered for other processes while its owner says so. Nobody watches its
// mapping, which must stay as it is. So it is not done where pages could go away without that: at a
// fork, or with a file.
package pin

import (
	"errors"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
)

// Share registers memory [lo, hi) for other processes until release, or Close. ok is false if that
// is not possible.
func (a *Arena) Share(lo, hi uintptr) (key uint64, release func(), ok bool) {
	if err := keepsPinned(); err != nil {
		log.Infof("private memory is reached by messages: %v", err)
		return 0, nil, false
	}
	n := int64(hi - lo)
	r, err := a.device.Register(lo, n, true)
	for errors.Is(err, unix.ENOMEM) && a.cache.Yield(n) {
		r, err = a.device.Register(lo, n, true)
	}
	if err != nil {
		log.Infof("private memory is reached by messages: %v", err)
		return 0, nil, false
	}
	if first, last := Pages(lo, n); !private(first, last) { // all its pages are present now
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

// unshare ends a registration, once.
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
