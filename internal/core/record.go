// SPDX-License-Identifier: BSD-3-Clause

// The bytes of records that ranks exchange while a job starts: numbers are varints, texts have a
// length. What is read is checked.
package core

import (
	"encoding/binary"
	"errors"

	"libarmci/internal/transport"
)

// recordWriter is a record that is being written.
type recordWriter []byte

func (b *recordWriter) appendNumber(n uint64) { *b = binary.AppendUvarint(*b, n) }

func (b *recordWriter) appendBytes(p []byte) {
	b.appendNumber(uint64(len(p)))
	*b = append(*b, p...)
}

func (b *recordWriter) appendText(s string) { b.appendBytes([]byte(s)) }

// appendRanks appends ranks, which ascend, as runs of equal distances: a node has few, in whatever
// order ranks were placed.
func (b *recordWriter) appendRanks(all []transport.Rank) {
	runs := runsOf(all)
	b.appendNumber(uint64(len(runs)))
	last := transport.Rank(0)
	for _, r := range runs {
		b.appendNumber(uint64(r.first - last))
		b.appendNumber(uint64(r.count))
		if r.count > 1 {
			b.appendNumber(uint64(r.step))
		}
		last = r.first + transport.Rank(r.count-1)*r.step
	}
}

// run is ranks at equal distances.
type run struct {
	first, step transport.Rank
	count       int
}

// runsOf splits ascending ranks into runs of equal distances.
func runsOf(all []transport.Rank) (runs []run) {
	for i := 0; i < len(all); {
		r := run{first: all[i], count: 1}
		for ; i+r.count < len(all); r.count++ {
			step := all[i+r.count] - all[i+r.count-1]
			if r.count > 1 && step != r.step {
				break
			}
			r.step = step
		}
		runs = append(runs, r)
		i += r.count
	}
	return runs
}

// recordReader is a record that is being read. After the first mistake all further values are
// empty.
type recordReader struct {
	rest      []byte
	malformed bool
}

var errRecord = errors.New("a malformed record of the start")

// checkEnd returns an error if the record was malformed, or is longer than what was read.
func (d *recordReader) checkEnd() error {
	if d.malformed || len(d.rest) > 0 {
		return errRecord
	}
	return nil
}

func (d *recordReader) readNumber() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.markBad()
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// markBad makes the reader return nothing further: the record is malformed.
func (d *recordReader) markBad() { d.rest, d.malformed = nil, true }

// readCount reads a number of things of which each has at least a byte.
func (d *recordReader) readCount() int {
	n := d.readNumber()
	if n > uint64(len(d.rest)) {
		d.markBad()
		return 0
	}
	return int(n)
}

// readRank reads a number below a limit.
func (d *recordReader) readRank(limit int) int {
	n := d.readNumber()
	if n >= uint64(limit) {
		d.markBad()
		return 0
	}
	return int(n)
}

func (d *recordReader) readBytes() []byte {
	n := d.readCount()
	p := d.rest[:n:n]
	d.rest = d.rest[n:]
	return p
}

func (d *recordReader) readText() string { return string(d.readBytes()) }

// readRanks reads ranks below a limit, in ascending order.
func (d *recordReader) readRanks(limit int) (all []transport.Rank) {
	last := -1
	for i := range d.readCount() {
		r := run{first: transport.Rank(d.readRank(limit)), count: d.readRank(limit + 1),
			step: 1}
		if i > 0 {
			r.first += transport.Rank(last)
		}
		if r.count > 1 {
			r.step = transport.Rank(d.readRank(limit))
		}
		end := int(r.first) + max(r.count-1, 0)*int(r.step)
		if d.malformed || r.count == 0 || r.step == 0 || int(r.first) <= last ||
			end >= limit {
			d.markBad()
			return nil
		}
		if all == nil {
			all = make([]transport.Rank, 0, r.count)
		}
		for k := range r.count {
			all = append(all, r.first+transport.Rank(k)*r.step)
		}
		last = end
	}
	return all
}
