// SPDX-License-Identifier: BSD-3-Clause

// Comparing network addresses, which fabrics find in the hints of other ranks.
package transport

// CommonBits is how many leading bits two addresses have in common.
func CommonBits(a, b [16]byte) int {
	for i := range 128 {
		if (a[i/8]^b[i/8])>>(7-i%8)&1 != 0 {
			return i
		}
	}
	return 128
}
