// SPDX-License-Identifier: BSD-3-Clause

// Reading a checkpoint. Every block is compared with its checksum before any of it is used.
package checkpoint

import (
	"encoding/binary"
	"fmt"
	"os"
)

// Saved is a member's complete file.
type Saved struct {
	header
	file   *os.File
	ranges []savedRange
	tables [][]uint64 // by range; nil: not read yet
}

// Find opens the file of a member with that generation. The caller closes it.
func Find(prefix string, member int, of Stamp) (*Saved, error) {
	for i := range 2 {
		f, err := os.Open(fileName(prefix, member, i))
		if err != nil {
			continue // the error below names what is missing
		}
		if h, err := readHeader(f); err == nil && h.complete && h.Same(of) {
			s, err := readSaved(f)
			if err != nil {
				f.Close()
			}
			return s, err
		}
		f.Close()
	}
	return nil, fmt.Errorf("%s, .1: no complete file of generation %d", fileName(prefix, member,
		0), of.Generation)
}

// Close closes the file.
func (s *Saved) Close() { s.file.Close() }

// readSaved reads the info of a complete file.
func readSaved(f *os.File) (*Saved, error) {
	h, err := readHeader(f)
	if err != nil {
		return nil, err
	}
	b := make([]byte, h.infoBytes)
	if _, err := f.ReadAt(b, pageBytes); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if sumOf(b) != h.infoSum {
		return nil, fmt.Errorf("%s: the list of ranges does not match its checksum",
			f.Name())
	}
	ranges, err := decodeInfo(b, h.ranges)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return &Saved{header: h, file: f, ranges: ranges, tables: make([][]uint64, len(ranges))},
		nil
}

// Fits tells whether range i of a record of so many can be read from the same range of this file.
func (s *Saved) Fits(i, ranges int, r Range) bool {
	if ranges != len(s.ranges) || s.ranges[i].bytes != int64(len(r.Mem)) {
		return false
	}
	box := s.ranges[i].box
	return box == nil || r.Box == nil || box.equal(r.Box)
}

// savedBlocks is a range of a file with checked blocks.
type savedBlocks struct {
	*Saved
	index  int
	buffer []byte
	at     int64 // number of the block in the buffer, -1 for none
}

// source is the blocks of a range.
func (s *Saved) source(i int) (*savedBlocks, error) {
	if i >= len(s.ranges) {
		return nil, fmt.Errorf("%s: there is no range %d", s.file.Name(), i)
	}
	if s.tables[i] == nil {
		b := make([]byte, blocksOf(s.ranges[i].bytes)*sumBytes)
		if _, err := s.file.ReadAt(b, s.ranges[i].tableAt); err != nil && len(b) > 0 {
			return nil, fmt.Errorf("%s: %w", s.file.Name(), err)
		}
		if sumOf(b) != s.ranges[i].tableSum {
			return nil, fmt.Errorf("%s: the checksums of range %d do not match theirs",
				s.file.Name(), i)
		}
		s.tables[i] = make([]uint64, len(b)/sumBytes)
		for k := range s.tables[i] {
			s.tables[i][k] = binary.LittleEndian.Uint64(b[k*sumBytes:])
		}
	}
	return &savedBlocks{Saved: s, index: i, at: -1}, nil
}

// block reads and checks a block.
func (s *savedBlocks) block(i int64) ([]byte, error) {
	r := &s.ranges[s.index]
	n := min(BlockBytes, r.bytes-i*BlockBytes)
	if s.at == i {
		return s.buffer[:n], nil
	}
	if s.buffer == nil {
		s.buffer = make([]byte, BlockBytes)
	}
	s.at = -1
	if err := s.readBlocks(i, s.buffer[:n]); err != nil {
		return nil, err
	}
	s.at = i
	return s.buffer[:n], nil
}

// readBlocks reads neighbouring blocks into memory and checks them.
func (s *savedBlocks) readBlocks(first int64, into []byte) error {
	at := s.ranges[s.index].dataAt + first*BlockBytes
	if _, err := s.file.ReadAt(into, at); err != nil {
		return fmt.Errorf("%s: byte %d: %w", s.file.Name(), at, err)
	}
	for i := range blocksOf(int64(len(into))) {
		b := blockOf(into, i)
		if sumOf(b) != s.tables[s.index][first+i] {
			from := i * BlockBytes
			return fmt.Errorf("%s: bytes %d..%d (range %d, from its byte %d on) do "+
				"not match their checksum", s.file.Name(), at+from,
				at+from+int64(len(b))-1, s.index, first*BlockBytes+from)
		}
	}
	return nil
}

// Restore reads a range into memory of its size; nil memory: it checks it only.
func (s *Saved) Restore(i int, mem []byte) error {
	source, err := s.source(i)
	if err != nil {
		return err
	}
	n := s.ranges[i].bytes
	check := mem == nil
	if check {
		mem = make([]byte, min(n, chunkBytes))
	}
	for at := int64(0); at < n; at += chunkBytes {
		part := mem[:min(n-at, chunkBytes)]
		if err := source.readBlocks(at/BlockBytes, part); err != nil {
			return err
		}
		if !check {
			mem = mem[len(part):]
		}
	}
	return nil
}

// readAt reads bytes of a range, which may begin anywhere; nil memory: it checks them only.
func (s *savedBlocks) readAt(at, n int64, mem []byte) error {
	for done := int64(0); done < n; {
		b, err := s.block((at + done) / BlockBytes)
		if err != nil {
			return err
		}
		part := b[(at+done)%BlockBytes:]
		part = part[:min(int64(len(part)), n-done)]
		if mem != nil {
			copy(mem[done:], part)
		}
		done += int64(len(part))
	}
	return nil
}
