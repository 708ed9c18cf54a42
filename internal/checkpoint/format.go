// SPDX-License-Identifier: BSD-3-Clause

// What is in a file. All numbers are little-endian.
//
//	0     header: magic, version, complete, generation, id, members, member, ranges, block size,
//	      bytes and checksum of the info, bytes of the file, checksum of the header
//	4096  info: for each range its bytes, where its data is, flags, its Box, and the checksum of
//	      its table
//	      tables: for each range 8 bytes for each block, the checksums
//	      data: for each range its bytes, from a page boundary on
package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

const (
	magic       = "ARMCICKP"
	version     = 1
	pageBytes   = 4096
	headerBytes = 80 // and 8 of its checksum
	sumBytes    = 8
	mostInfo    = 1 << 30
)

// Stamp identifies a generation, and a member's file of it. The zero value is none.
type Stamp struct {
	Generation uint64 // counted from 1
	ID         uint64 // random, the same for all members
	Members    int
	Member     int
}

// Same tells whether two files are of the same generation.
func (s Stamp) Same(o Stamp) bool {
	return s.Generation == o.Generation && s.ID == o.ID && s.Members == o.Members
}

// header is the first bytes of a file.
type header struct {
	Stamp
	complete  bool
	ranges    int
	infoBytes int64
	infoSum   uint64
	fileBytes int64
}

// savedRange is what the info says of a range.
type savedRange struct {
	bytes    int64
	dataAt   int64
	tableAt  int64
	tableSum uint64
	once     bool
	box      *Box
}

// errNoHeader is of a file that holds no complete checkpoint.
var errNoHeader = errors.New("it holds no checkpoint")

// encode returns the header as readHeader reads it.
func (h *header) encode() []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), magic...)
	b = le.AppendUint32(b, version)
	complete := uint32(0)
	if h.complete {
		complete = 1
	}
	b = le.AppendUint32(b, complete)
	b = le.AppendUint64(b, h.Generation)
	b = le.AppendUint64(b, h.ID)
	b = le.AppendUint32(b, uint32(h.Members))
	b = le.AppendUint32(b, uint32(h.Member))
	b = le.AppendUint32(b, uint32(h.ranges))
	b = le.AppendUint32(b, BlockBytes)
	b = le.AppendUint64(b, uint64(h.infoBytes))
	b = le.AppendUint64(b, h.infoSum)
	b = le.AppendUint64(b, uint64(h.fileBytes))
	b = le.AppendUint64(b, 0)
	return le.AppendUint64(b, sumOf(b))
}

// readHeader reads and checks a header. errNoHeader: the file is new, or was never completed.
func readHeader(f *os.File) (h header, err error) {
	le := binary.LittleEndian
	b := make([]byte, headerBytes+sumBytes)
	if n, _ := f.ReadAt(b, 0); n < len(b) || string(b[:len(magic)]) != magic {
		return h, errNoHeader
	}
	if v := le.Uint32(b[8:]); v != version {
		return h, fmt.Errorf("%s: format %d, this library reads format %d", f.Name(), v,
			version)
	}
	if sumOf(b[:headerBytes]) != le.Uint64(b[headerBytes:]) {
		return h, fmt.Errorf("%s: the header does not match its checksum", f.Name())
	}
	h = header{Stamp: Stamp{le.Uint64(b[16:]), le.Uint64(b[24:]), int(le.Uint32(b[32:])),
		int(le.Uint32(b[36:]))}, complete: le.Uint32(b[12:]) == 1,
		ranges: int(le.Uint32(b[40:])), infoBytes: int64(le.Uint64(b[48:])),
		infoSum: le.Uint64(b[56:]), fileBytes: int64(le.Uint64(b[64:]))}
	if le.Uint32(b[44:]) != BlockBytes || h.infoBytes < 0 || h.infoBytes > mostInfo {
		return h, fmt.Errorf("%s: a header that this library has not written", f.Name())
	}
	return h, nil
}

// encodeInfo is the info of ranges.
func encodeInfo(ranges []savedRange) (b []byte) {
	le := binary.LittleEndian
	for _, r := range ranges {
		once, dims, elem := uint32(0), int32(-1), int64(0)
		if r.once {
			once = 1
		}
		if r.box != nil {
			dims, elem = int32(len(r.box.Dims)), r.box.ElemBytes
		}
		for _, v := range []int64{r.bytes, r.dataAt, r.tableAt, int64(r.tableSum), elem} {
			b = le.AppendUint64(b, uint64(v))
		}
		b = le.AppendUint32(b, once)
		b = le.AppendUint32(b, uint32(dims))
		for d := range max(dims, 0) {
			for _, v := range []int64{r.box.Dims[d], r.box.Lo[d], r.box.Hi[d]} {
				b = le.AppendUint64(b, uint64(v))
			}
		}
	}
	return b
}

// decodeInfo reads an info after its checksum has matched.
func decodeInfo(b []byte, ranges int) (all []savedRange, err error) {
	le := binary.LittleEndian
	bad := errors.New("an info that this library has not written")
	for range ranges {
		if len(b) < 48 {
			return nil, bad
		}
		r := savedRange{bytes: int64(le.Uint64(b)), dataAt: int64(le.Uint64(b[8:])),
			tableAt: int64(le.Uint64(b[16:])), tableSum: le.Uint64(b[24:]),
			once: le.Uint32(b[40:]) == 1}
		elem, dims := int64(le.Uint64(b[32:])), int(int32(le.Uint32(b[44:])))
		b = b[48:]
		if dims > MaxDims || len(b) < 24*dims || r.bytes < 0 {
			return nil, bad
		}
		if dims >= 0 {
			r.box = &Box{ElemBytes: elem}
			for range dims {
				r.box.Dims = append(r.box.Dims, int64(le.Uint64(b)))
				r.box.Lo = append(r.box.Lo, int64(le.Uint64(b[8:])))
				r.box.Hi = append(r.box.Hi, int64(le.Uint64(b[16:])))
				b = b[24:]
			}
			if r.box.CheckBounds(r.bytes) != nil {
				return nil, bad
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// encodeTable is a table of checksums as a file has it.
func encodeTable(sums []uint64) []byte {
	b := make([]byte, 0, len(sums)*sumBytes)
	for _, s := range sums {
		b = binary.LittleEndian.AppendUint64(b, s)
	}
	return b
}

// pageUp rounds up to a page.
func pageUp(n int64) int64 { return (n + pageBytes - 1) &^ (pageBytes - 1) }

// layOut gives ranges their places, and returns the bytes of the file.
func layOut(ranges []savedRange) (fileBytes int64) {
	at := pageBytes + int64(len(encodeInfo(ranges)))
	for i := range ranges {
		ranges[i].tableAt = at
		at += blocksOf(ranges[i].bytes) * sumBytes
	}
	for i := range ranges {
		at = pageUp(at)
		ranges[i].dataAt = at
		at += ranges[i].bytes
	}
	return at
}
