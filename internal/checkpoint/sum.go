// SPDX-License-Identifier: BSD-3-Clause

// Checksums of blocks. They find damage, and tell which blocks have changed since they were saved.
package checkpoint

import "hash/crc32"

// BlockBytes is the unit of memory that is compared, checksummed and rewritten.
const BlockBytes = 16 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf is 64 bits made of two CRCs with different polynomials. It tells any change within 64
// neighbouring bits for certain, and any other but for one in 2^64.
func sumOf(b []byte) uint64 {
	return uint64(crc32.Checksum(b, castagnoli))<<32 | uint64(crc32.ChecksumIEEE(b))
}

// blocksOf is the number of blocks of so many bytes.
func blocksOf(n int64) int64 { return (n + BlockBytes - 1) / BlockBytes }

// blockOf is a block of memory; the last one may be short.
func blockOf(mem []byte, i int64) []byte {
	lo := i * BlockBytes
	return mem[lo:min(lo+BlockBytes, int64(len(mem)))]
}
