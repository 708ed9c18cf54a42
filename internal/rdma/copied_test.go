// SPDX-License-Identifier: BSD-3-Clause

// After how much copying memory of the program is registered.
package rdma

import "testing"

// uses is after how many transfers of so many bytes memory is registered.
func (c *copyHistory) uses(nbytes, most int64) (n int) {
	for n = 1; !c.recordTransfer(1<<40, nbytes, most); n++ {
	}
	return n
}

// TestCopied: memory that is registered again and again, since it does not stay so, is registered
// ever more rarely; growing transfers are not.
func TestCopied(t *testing.T) {
	const most = 1 << 20
	var c copyHistory
	for want := 16; want <= 64; want *= 2 {
		if got := c.uses(1<<16, most); got != want {
			t.Errorf("the same memory is registered after %d uses, want %d", got, want)
		}
	}
	for nbytes := int64(1 << 17); nbytes < most; nbytes *= 2 {
		if got, want := c.uses(nbytes, most), int(most/nbytes); got != want {
			t.Errorf("%d bytes are registered after %d uses, want %d",
				nbytes, got, want)
		}
	}
}
