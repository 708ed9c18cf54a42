// SPDX-License-Identifier: BSD-3-Clause

// The loop of a data server, without a device.
package rdma

import (
	"testing"
	"time"
)

// A server looks for long only where that has paid, and never for longer than it may.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		poll  time.Duration
		quick int
		want  time.Duration
	}{
		{200 * time.Microsecond, 0, shortPoll}, {200 * time.Microsecond, quickOnes - 1, shortPoll},
		{200 * time.Microsecond, quickOnes, 200 * time.Microsecond}, {0, 100, 0}, {200 * time.Microsecond, -1, 0},
		{5 * time.Microsecond, 0, 5 * time.Microsecond}, {5 * time.Microsecond, 100, 5 * time.Microsecond},
	} {
		s := &server{opt: &Options{Poll: c.poll}}
		if got := s.patience(c.quick); got != c.want {
			t.Errorf("up to %v, after %d quick messages: %v, not %v", c.poll, c.quick, got, c.want)
		}
	}
}
