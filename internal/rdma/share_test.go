// SPDX-License-Identifier: BSD-3-Clause

// Private memory of a process that is alone on its node, reached by the device: and by frames when
// the registration has ended.
package rdma

import (
	"testing"

	"golang.org/x/sys/unix"

	"libarmci/internal/transport"
)

// TestShare: a private range that its owner shares is written by the device, and by frames before
// and after that.
func TestShare(t *testing.T) {
	j := newJob(t, nil, 1, 1)
	far, near := mapPrivate(t, 0), mapPrivate(t, 0)
	defer systemCall(t, unix.SYS_MUNMAP, far, privateBytes)
	defer systemCall(t, unix.SYS_MUNMAP, near, privateBytes)
	if err := j.Node(1).Expose(far, privateBytes); err != nil {
		t.Fatal(err)
	}
	mine, its := j.Open[0].(transport.Sharer), j.Open[1].(transport.Sharer)
	for i := range byte(3) {
		if err := checkThroughRemote(j.Open[0], near, far, 20*i); err != nil {
			t.Fatalf("by frames: %v", err)
		}
		key, release, ok := its.Share(far, far+privateBytes)
		if !ok {
			t.Skip("private memory cannot stay registered here")
		}
		r := transport.Range{Lo: far, Hi: far + privateBytes, Key: key}
		mine.AddSharedRange(1, r)
		if err := checkThroughRemote(j.Open[0], near, far, 20*i+5); err != nil {
			t.Fatalf("by the device: %v", err)
		}
		mine.RemoveSharedRange(1, r)
		release()
	}
	if _, _, ok := its.Share(1<<20, 1<<20+4096); ok {
		t.Error("memory that is not there was registered")
	}
	if err := checkThroughRemote(j.Open[0], near, far, 99); err != nil {
		t.Errorf("by frames again: %v", err)
	}
}
