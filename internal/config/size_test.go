// SPDX-License-Identifier: BSD-3-Clause

// Tests of the text of sizes: units, and how many digits.
package config

import "testing"

// TestSizeText shows the texts of sizes.
func TestSizeText(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{{0, "0 B"}, {1023, "1023 B"}, {1024, "1 KiB"}, {1536, "1.5 KiB"}, {100 << 20, "100 MiB"},
		{16 << 40, "16 TiB"}} {
		if got := SizeText(c.n); got != c.want {
			t.Errorf("%d is %q, not %q", c.n, got, c.want)
		}
	}
}
