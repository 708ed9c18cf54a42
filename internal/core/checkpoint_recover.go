// SPDX-License-Identifier: BSD-3-Clause

// Restoring a checkpoint: the members agree on the newest generation that is whole for all of them,
// and check all of it before any memory is changed.
package core

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"libarmci/internal/checkpoint"
	"libarmci/internal/log"
)

// candidate is a generation that a member has found in its files.
type candidate struct {
	checkpoint.Stamp
	holders int // members whose own file is complete
}

const stampBytes = 20 // of a Stamp in an exchange

// exchangeStamps returns the generations that the members have in their own files, newest first,
// and the highest number of any, complete or not.
func exchangeStamps(c *checkpointRecord) (all []candidate, last uint64) {
	le := binary.LittleEndian
	mine := le.AppendUint64(nil, c.files.LastSeen())
	for _, s := range c.files.Stamps() {
		mine = le.AppendUint64(mine, s.Generation)
		mine = le.AppendUint64(mine, s.ID)
		mine = le.AppendUint32(mine, uint32(s.Members))
	}
	b := c.group.team.Allgather(mine)
	for range c.group.Size() {
		last = max(last, le.Uint64(b))
		b = b[8:]
		for range 2 {
			s := checkpoint.Stamp{Generation: le.Uint64(b), ID: le.Uint64(b[8:]),
				Members: int(le.Uint32(b[16:]))}
			b = b[stampBytes:]
			if s.Generation == 0 {
				continue
			}
			i := slices.IndexFunc(all, func(o candidate) bool { return o.Same(s) })
			if i < 0 {
				all = append(all, candidate{Stamp: s})
				i = len(all) - 1
			}
			all[i].holders++
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.ID, b.ID))
	})
	return all, last
}

// whole tells whether all files of a generation are there. Each member looks for some of those that
// are no member's own. Collective over the group.
func (c *checkpointRecord) whole(s candidate) bool {
	size := c.group.Size()
	if s.holders != min(s.Members, size) {
		return false
	}
	if s.Members <= size {
		return true
	}
	missing := byte(0)
	for m := size + c.group.Me; m < s.Members; m += size {
		f, err := checkpoint.Find(c.prefix, m, s.Stamp)
		if err != nil {
			missing = 1
			break
		}
		f.Close()
	}
	return !slices.Contains(c.group.team.Allgather([]byte{missing})[:size], 1)
}

// exchangeGenerations finds the newest generation in the files of a new record, which the next
// checkpoint leaves alone. Collective over the group.
func (c *checkpointRecord) exchangeGenerations() {
	all, last := exchangeStamps(c)
	c.attempt = last
	for _, s := range all {
		if c.whole(s) {
			c.current = s.Stamp
			break
		}
	}
	c.files.Keep(c.current)
}

// CheckpointGeneration is the number of the newest checkpoint of a record that all members have; 0:
// there is none.
func (cs *checkpoints) CheckpointGeneration(id int) (int64, error) {
	c, err := cs.record(id)
	if err != nil {
		return 0, err
	}
	return int64(c.current.Generation), nil
}

// CheckpointRecover restores the memory of a record from the newest generation that is whole and
// undamaged for all members. Collective over its group.
func (cs *checkpoints) CheckpointRecover(id int) error {
	c, err := cs.record(id)
	if err != nil {
		return err
	}
	cs.quiesce(c.group)
	if err := agree(c.group, cs.checkRanges(c), "no memory was restored"); err != nil {
		return err
	}
	all, _ := exchangeStamps(c)
	for _, s := range all {
		if !c.whole(s) {
			continue
		}
		done, err := c.recoverFrom(s.Stamp)
		if done {
			return err
		}
		c.files.Forget(s.Stamp)
		if !IsQuiet(err) { // this rank has found it
			log.Warnf("ARMCI_Ckpt_Recover: %v", err)
		}
	}
	return &ArgError{Arg: "rid", Code: CodeInternal, Quiet: c.group.Me != 0,
		Text: fmt.Sprintf("%s.*: there is no checkpoint that %d ranks can restore: no "+
			"memory was restored", c.prefix, c.group.Size())}
}

// recoverFrom restores a generation. done is false if it cannot be used: then no memory has been
// changed, and err says why. Collective over the group.
func (c *checkpointRecord) recoverFrom(s checkpoint.Stamp) (done bool, err error) {
	files, err := c.openSaved(s)
	defer files.close()
	if err == nil {
		err = c.restore(files, false)
	}
	if err = agree(c.group, fileError(err),
		fmt.Sprintf("generation %d cannot be restored", s.Generation)); err != nil {
		return false, err
	}
	err = agree(c.group, fileError(c.restore(files, true)), "memory was restored in part")
	if err == nil {
		c.current = s
		c.files.Keep(s)
	}
	return true, err
}

// savedFiles are the files that a member restores from.
type savedFiles struct {
	own *checkpoint.Saved   // nil with another number of members
	all []*checkpoint.Saved // of all former members; empty if own is enough
}

func (f *savedFiles) close() {
	if f.own != nil {
		f.own.Close()
	}
	for _, s := range f.all {
		s.Close()
	}
}

// openSaved opens the files that this member needs.
func (c *checkpointRecord) openSaved(s checkpoint.Stamp) (f savedFiles, err error) {
	if s.Members == c.group.Size() {
		if f.own, err = checkpoint.Find(c.prefix, c.group.Me, s); err != nil {
			return f, err
		}
		if !slices.ContainsFunc(c.ranges, func(r checkpointRange) bool {
			return r.box != nil
		}) {
			return f, nil
		}
	}
	for m := range s.Members {
		one, err := checkpoint.Find(c.prefix, m, s)
		if err != nil {
			return f, err
		}
		f.all = append(f.all, one)
	}
	return f, nil
}

// restore reads the ranges into memory, or only checks the files.
func (c *checkpointRecord) restore(f savedFiles, change bool) error {
	for i, r := range c.memory() {
		var mem []byte
		if change {
			mem = r.Mem
		}
		var err error
		switch {
		case f.own != nil && f.own.Fits(i, len(c.ranges), r):
			err = f.own.Restore(i, mem)
		case r.Box != nil:
			err = checkpoint.Gather(f.all, i, r.Box, mem)
		default:
			err = c.noDistribution(f, i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noDistribution is why a range cannot be restored.
func (c *checkpointRecord) noDistribution(f savedFiles, i int) error {
	if f.own != nil {
		return fmt.Errorf("%s.*: it was made of other memory than this record's %d "+
			"ranges, of which range %d has %d bytes", c.prefix, len(c.ranges), i,
			c.ranges[i].nbytes)
	}
	return fmt.Errorf("%s.*: it was made by %d ranks, this group has %d, and range %d has no "+
		"declared distribution (ARMCIX_Ckpt_distribute)", c.prefix, len(f.all),
		c.group.Size(), i)
}

// CheckpointDistribute declares which part of an array a range of this rank holds. Not collective.
func (cs *checkpoints) CheckpointDistribute(id, index int, box *checkpoint.Box) error {
	c, err := cs.record(id)
	switch {
	case err != nil:
		return err
	case index < 0 || index >= len(c.ranges):
		return argErr(CodeArgument, "index", "%d is outside 0..%d", index, len(c.ranges)-1)
	}
	if len(box.Dims) == 0 {
		box.ElemBytes = c.ranges[index].nbytes
	}
	if err := box.CheckBounds(c.ranges[index].nbytes); err != nil {
		return argErr(CodeArgument, "lo, hi", "range %d: %v", index, err)
	}
	c.ranges[index].box = box
	return nil
}
