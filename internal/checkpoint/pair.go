// SPDX-License-Identifier: BSD-3-Clause

// The two files of a member.
package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Point, set by tests, is called at named points of writing: "begun", "data", "written",
// "committed".
var Point func(point string, member int)

// reach calls Point.
func reach(point string, member int) {
	if Point != nil {
		Point(point, member)
	}
}

// Pair is the two slots of a member. It is used by one goroutine at a time.
type Pair struct {
	member int
	slots  [2]slot
	kept   int // the slot that the next Write must leave alone
	dir    string
}

// slot is one file, open for reading and writing.
type slot struct {
	file   *os.File
	stamp  Stamp      // of a complete generation, else zero
	seen   uint64     // the generation in the header, complete or not
	sums   [][]uint64 // by range: what the file is known to hold; nil: unknown
	layout []savedRange
	next   header // of Write, for Commit
}

// fileName is the name of a member's slot.
func fileName(prefix string, member, slot int) string {
	return fmt.Sprintf("%s.%d.%d", prefix, member, slot)
}

// Open opens or makes the files of a member, which stay locked until Close.
func Open(prefix string, member int) (*Pair, error) {
	p := &Pair{member: member, dir: filepath.Dir(prefix)}
	for i := range p.slots {
		if err := p.slots[i].open(fileName(prefix, member, i)); err != nil {
			p.Close()
			return nil, err
		}
	}
	if err := syncDir(p.dir); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// open opens a slot and reads its header. A header that cannot be read is no checkpoint: its file
// will be overwritten, as that of a write that was cut short.
func (s *slot) open(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	s.file = f
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK {
		return fmt.Errorf("%s: in use by another process, or by another record of this one",
			name)
	}
	if h, err := readHeader(f); err == nil {
		if s.seen = h.Generation; h.complete {
			s.stamp = h.Stamp
		}
	}
	return nil
}

// syncDir makes the names of new files survive a crash of the machine. A file system without that
// is no error.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

// Close closes the files.
func (p *Pair) Close() {
	for _, s := range p.slots {
		if s.file != nil {
			s.file.Close()
		}
	}
}

// Stamps are the complete generations in the files.
func (p *Pair) Stamps() [2]Stamp { return [2]Stamp{p.slots[0].stamp, p.slots[1].stamp} }

// LastSeen is the highest number of a generation, complete or not.
func (p *Pair) LastSeen() uint64 { return max(p.slots[0].seen, p.slots[1].seen) }

// Forget has the next Write of a slot write all of it: a block of that generation was damaged.
func (p *Pair) Forget(of Stamp) {
	for i := range p.slots {
		if p.slots[i].stamp.Same(of) {
			p.slots[i].sums = nil
		}
	}
}

// Keep has later calls of Write leave the slot of a generation alone. Without one of that stamp, it
// has them leave any complete one alone if there is only one.
func (p *Pair) Keep(of Stamp) {
	for i, s := range p.slots {
		if of.Generation != 0 && s.stamp.Same(of) {
			p.kept = i
			return
		}
	}
	if p.slots[0].stamp.Generation < p.slots[1].stamp.Generation {
		p.kept = 1
	} else {
		p.kept = 0
	}
}
