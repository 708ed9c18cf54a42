// SPDX-License-Identifier: BSD-3-Clause

// Writing a checkpoint: only blocks that differ from what the slot holds.
package checkpoint

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Range is memory that is saved, or restored.
type Range struct {
	Mem  []byte
	Once bool // what was saved first is kept in later checkpoints
	Box  *Box // nil: it can be restored on as many members only
}

// blockSource is what a range is written from. A block is valid until the next call.
type blockSource interface {
	block(i int64) ([]byte, error)
}

// memorySource is memory of this process.
type memorySource []byte

func (m memorySource) block(i int64) ([]byte, error) { return blockOf(m, i), nil }

// Write writes a checkpoint into the slot that is not kept, and returns when the disk has it. It is
// complete after Commit. again: ranges that are saved once are in the slot that is kept. It returns
// the bytes of memory that were written. After an error the slot holds nothing.
func (p *Pair) Write(stamp Stamp, ranges []Range, again bool) (written int64, err error) {
	s := &p.slots[1-p.kept]
	layout := make([]savedRange, len(ranges))
	for i, r := range ranges {
		layout[i] = savedRange{bytes: int64(len(r.Mem)), once: r.Once, box: r.Box}
	}
	s.next = header{Stamp: stamp, ranges: len(ranges), fileBytes: layOut(layout)}
	old := s.sums
	if old == nil || !samePlaces(layout, s.layout) {
		old = make([][]uint64, len(ranges))
	}
	if err := s.invalidate(); err != nil {
		return 0, err
	}
	reach("begun", p.member)
	w := newBlockWriter(s.file)
	sums, err := p.writeRanges(w, ranges, layout, old, again)
	if failed := w.close(); err == nil {
		err = failed
	}
	if err == nil {
		err = s.finish(layout, sums)
	}
	if err != nil {
		return w.written, err
	}
	s.layout, s.sums = layout, sums
	reach("written", p.member)
	return w.written, nil
}

// writeRanges gives w all blocks that differ from the old checksums. It sets those of the tables in
// layout, and returns those of the blocks.
func (p *Pair) writeRanges(w *blockWriter, ranges []Range, layout []savedRange, old [][]uint64,
	again bool) ([][]uint64, error) {
	sums := make([][]uint64, len(ranges))
	for i, r := range ranges {
		source := blockSource(memorySource(r.Mem))
		if r.Once && again {
			saved, err := p.savedOnce(i)
			if err != nil {
				return nil, err
			}
			source = saved
		}
		var err error
		n := blocksOf(layout[i].bytes)
		if sums[i], err = w.writeRange(source, n, layout[i].dataAt, old[i]); err != nil {
			return nil, err
		}
		layout[i].tableSum = sumOf(encodeTable(sums[i]))
		if i == len(ranges)/2 {
			reach("data", p.member)
		}
	}
	return sums, nil
}

// savedOnce is a range as the kept slot has it.
func (p *Pair) savedOnce(i int) (blockSource, error) {
	saved, err := readSaved(p.slots[p.kept].file)
	if err != nil {
		return nil, err
	}
	return saved.source(i)
}

// samePlaces tells whether ranges are in the same places of a file.
func samePlaces(a, b []savedRange) bool {
	return slices.EqualFunc(a, b, func(x, y savedRange) bool {
		return x.bytes == y.bytes && x.dataAt == y.dataAt
	})
}

// invalidate marks a slot as incomplete before any of its blocks is changed.
func (s *slot) invalidate() error {
	was := s.stamp.Generation
	s.stamp, s.sums, s.seen = Stamp{}, nil, s.next.Generation
	if _, err := s.file.WriteAt(s.next.encode(), 0); err != nil {
		return err
	}
	if was == 0 {
		return nil
	}
	return s.sync()
}

// finish writes checksums and the info, and waits until the disk has the whole file.
func (s *slot) finish(layout []savedRange, sums [][]uint64) error {
	info := encodeInfo(layout)
	s.next.infoBytes, s.next.infoSum = int64(len(info)), sumOf(info)
	for _, t := range sums {
		info = append(info, encodeTable(t)...)
	}
	if _, err := s.file.WriteAt(info, pageBytes); err != nil {
		return err
	}
	if err := s.file.Truncate(s.next.fileBytes); err != nil {
		return err
	}
	return s.sync()
}

// sync waits until the disk has the file.
func (s *slot) sync() error {
	for {
		err := unix.Fdatasync(int(s.file.Fd()))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "fdatasync", Path: s.file.Name(), Err: err}
		}
		return nil
	}
}

// Commit completes the checkpoint of Write. The caller calls Keep if all members have done so.
func (p *Pair) Commit() error {
	s := &p.slots[1-p.kept]
	s.next.complete = true
	if _, err := s.file.WriteAt(s.next.encode(), 0); err != nil {
		return err
	}
	if err := s.sync(); err != nil {
		return err
	}
	s.stamp = s.next.Stamp
	reach("committed", p.member)
	return nil
}
