// SPDX-License-Identifier: BSD-3-Clause

// The bytes of records that ranks exchange while a job starts: numbers are varints, texts have a
// length. What is read is checked.
package core

import (
	"encoding/binary"
	"errors"

	"libarmci/internal/transport"
)

// record is one that is being made.
type record []byte

func (b *record) number(n uint64) { *b = binary.AppendUvarint(*b, n) }

func (b *record) bytes(p []byte) {
	b.number(uint64(len(p)))
	*b = append(*b, p...)
}

func (b *record) text(s string) { b.bytes([]byte(s)) }

// ranks are written in ascending order, as runs of equal distances: a node has few, in whatever
// order ranks were dealt out.
func (b *record) ranks(all []transport.Rank) {
	runs := runsOf(all)
	b.number(uint64(len(runs)))
	last := transport.Rank(0)
	for _, r := range runs {
		b.number(uint64(r.first - last))
		b.number(uint64(r.count))
		if r.count > 1 {
			b.number(uint64(r.step))
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

// reading is a record that is being read. After the first mistake everything is empty.
type reading struct {
	b   []byte
	bad bool
}

var errRecord = errors.New("a malformed record of the start")

// end is an error if the record was not as it should be, or has more.
func (d *reading) end() error {
	if d.bad || len(d.b) > 0 {
		return errRecord
	}
	return nil
}

func (d *reading) number() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *reading) fail() { d.b, d.bad = nil, true }

// count is a number of things of which each has a byte at least.
func (d *reading) count() int {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

// rank is a number below a limit.
func (d *reading) rank(limit int) int {
	n := d.number()
	if n >= uint64(limit) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *reading) bytes() []byte {
	n := d.count()
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *reading) text() string { return string(d.bytes()) }

// ranks reads ranks below a limit, in ascending order.
func (d *reading) ranks(limit int) (all []transport.Rank) {
	last := -1
	for i := range d.count() {
		r := run{first: transport.Rank(d.rank(limit)), count: d.rank(limit + 1), step: 1}
		if i > 0 {
			r.first += transport.Rank(last)
		}
		if r.count > 1 {
			r.step = transport.Rank(d.rank(limit))
		}
		end := int(r.first) + max(r.count-1, 0)*int(r.step)
		if d.bad || r.count == 0 || r.step == 0 || int(r.first) <= last || end >= limit {
			d.fail()
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
