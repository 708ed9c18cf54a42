// SPDX-License-Identifier: BSD-3-Clause

// Checkpoints of a group: which memory is saved, and the agreement of all members. Files are in
// internal/checkpoint. Every step that can fail ends in an exchange, so that all members learn of
// it and return an error; none waits for a member that could not write.
package core

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"unsafe"

	"libarmci/internal/checkpoint"
	"libarmci/internal/kernel"
)

// checkpoints are the records of this rank.
type checkpoints struct {
	rt      *Runtime
	mu      sync.Mutex // guards the rest
	records map[int]*checkpointRecord
	lastID  int // highest that was used
}

// checkpointRecord is what one call of CheckpointInit has begun. It is used by one thread at a
// time.
type checkpointRecord struct {
	group   *Group
	prefix  string
	ranges  []checkpointRange
	files   *checkpoint.Pair
	attempt uint64 // generation of the last attempt in any file
	// current is the last generation that all members have, zero if there is none
	current    checkpoint.Stamp
	onceSaved  bool  // what is saved once is in the current generation
	bytesSaved int64 // by this rank, of the last checkpoint
}

// checkpointRange is memory to be saved.
type checkpointRange struct {
	addr   uintptr
	nbytes int64
	once   bool
	shared bool // in an allocation of this rank, which must stay live
	box    *checkpoint.Box
}

// CheckpointRange is memory that the caller names.
type CheckpointRange struct {
	Addr   uintptr
	Nbytes int64
	Once   bool
}

// CheckpointRequest are the arguments of CheckpointInit.
type CheckpointRequest struct {
	File        string // beginning of the names of files; "": the library's
	Ranges      []CheckpointRange
	Allocations bool // all allocations of the group instead of Ranges
	Mistake     error
}

// CheckpointInit begins a record of memory to be saved, and returns its number, which is the same
// on all members. Collective over the group.
func (cs *checkpoints) CheckpointInit(g *Group, q CheckpointRequest) (int, error) {
	if err := g.checkMember(); err != nil {
		return 0, err
	}
	c := &checkpointRecord{group: g}
	err := q.Mistake
	if err == nil {
		err = cs.setRanges(c, q)
	}
	id := cs.agreeOnID(g)
	if c.prefix = q.File; c.prefix == "" {
		c.prefix = fmt.Sprintf("armci_chkpt_%d_%d", id, g.Ranks[0])
	}
	if err == nil {
		if c.files, err = checkpoint.Open(c.prefix, g.Me); err != nil {
			err = argErr(CodeInternal, "filename", "%v", err)
		}
	}
	if err := agree(g, err, "nothing will be saved"); err != nil {
		if c.files != nil {
			c.files.Close()
		}
		return 0, err
	}
	c.exchangeGenerations()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.records[id] = c
	return id, nil
}

// setRanges sets what a record saves.
func (cs *checkpoints) setRanges(c *checkpointRecord, q CheckpointRequest) error {
	if q.Allocations {
		c.ranges = cs.rt.regions.ofGroup(c.group.ID)
		return nil
	}
	for i, r := range q.Ranges {
		if r.Nbytes == 0 {
			r.Addr = 0
		}
		n := checkpointRange{addr: r.Addr, nbytes: r.Nbytes, once: r.Once,
			shared: cs.rt.Memory.InArena(r.Addr)}
		c.ranges = append(c.ranges, n)
		if err := cs.checkRange(i, &n); err != nil {
			return err
		}
	}
	return nil
}

// checkRange returns an error unless a range is memory that can be saved now.
func (cs *checkpoints) checkRange(i int, r *checkpointRange) error {
	arg := fmt.Sprintf("ptr_arr[%d]", i)
	switch {
	case r.nbytes < 0:
		return argErr(CodeBytes, fmt.Sprintf("sz[%d]", i), "%d bytes are too many",
			uint64(r.nbytes))
	case r.nbytes == 0:
	case r.addr == 0:
		return argErr(CodeArgument, arg, "null pointer")
	case r.addr > lastAddress || uintptr(r.nbytes) > lastAddress-r.addr:
		return argErr(CodeAddress, arg, "%d bytes at %#x are no memory", r.nbytes, r.addr)
	case r.shared:
		if !cs.rt.Memory.InRegionOf(cs.rt.localRank, r.addr, r.nbytes) {
			return argErr(CodeAddress, arg,
				"%d bytes at %#x are not within one allocation of this rank",
				r.nbytes, r.addr)
		}
	case !checkpoint.Mapped(r.addr, r.nbytes):
		return argErr(CodeAddress, arg, "%d bytes at %#x are not all mapped", r.nbytes,
			r.addr)
	}
	return nil
}

// checkRanges is checkRange for all ranges of a record.
func (cs *checkpoints) checkRanges(c *checkpointRecord) error {
	for i := range c.ranges {
		if err := cs.checkRange(i, &c.ranges[i]); err != nil {
			return err
		}
	}
	return nil
}

// memory is the ranges as files have them.
func (c *checkpointRecord) memory() []checkpoint.Range {
	all := make([]checkpoint.Range, len(c.ranges))
	for i, r := range c.ranges {
		all[i] = checkpoint.Range{Once: r.once, Box: r.box}
		if r.nbytes > 0 {
			all[i].Mem = unsafe.Slice((*byte)(kernel.Ptr(r.addr)), r.nbytes)
		}
	}
	return all
}

// agreeOnID is the number of a new record: above all that any member has used.
func (cs *checkpoints) agreeOnID(g *Group) int {
	cs.mu.Lock()
	mine := binary.LittleEndian.AppendUint64(nil, uint64(cs.lastID+1))
	cs.mu.Unlock()
	all, id := g.team.Allgather(mine), 0
	for i := range g.Size() {
		id = max(id, int(binary.LittleEndian.Uint64(all[8*i:])))
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.lastID = max(cs.lastID, id)
	return id
}

// record finds a record by its number.
func (cs *checkpoints) record(id int) (*checkpointRecord, error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.records[id]
	if c == nil {
		return nil, argErr(CodeArgument, "rid", "%d is no record of this rank", id)
	}
	return c, nil
}

// Checkpoint saves the memory of a record. Collective over its group. After an error the checkpoint
// before is still there on all members.
func (cs *checkpoints) Checkpoint(id int) error {
	c, err := cs.record(id)
	if err != nil {
		return err
	}
	cs.quiesce(c.group)
	c.attempt++
	stamp := checkpoint.Stamp{Generation: c.attempt, ID: randomID(),
		Members: c.group.Size()}
	c.group.team.Bcast(unsafe.Pointer(&stamp.ID), 8, 0)
	stamp.Member = c.group.Me
	if err = cs.checkRanges(c); err == nil {
		c.bytesSaved, err = c.files.Write(stamp, c.memory(), c.onceSaved)
		err = fileError(err)
	}
	const lost = "nothing was saved, the checkpoint before is kept"
	if err := agree(c.group, err, lost); err != nil {
		return err
	}
	if err := agree(c.group, fileError(c.files.Commit()), lost); err != nil {
		return err
	}
	c.files.Keep(stamp)
	c.current, c.onceSaved = stamp, true
	return nil
}

// quiesce completes all operations of the members.
func (cs *checkpoints) quiesce(g *Group) {
	cs.rt.FlushAggregates()
	cs.rt.WaitAll()
	cs.rt.AllFence()
	g.team.Barrier()
}

// randomID distinguishes generations of the same number.
func randomID() uint64 {
	b := make([]byte, 8)
	rand.Read(b)
	return binary.LittleEndian.Uint64(b)
}

// fileError is an error of files as one of a call.
func fileError(err error) error {
	if err == nil {
		return nil
	}
	return argErr(CodeInternal, "rid", "%v", err)
}

// agree exchanges whether members have failed. If any has, all get an error with the code of the
// first, which prints it. Collective over the group.
func agree(g *Group, mine error, consequence string) error {
	state := make([]byte, 8)
	if mine != nil {
		binary.LittleEndian.PutUint64(state, uint64(-CodeOf(mine)))
	}
	all := g.team.Allgather(state)
	first, failed, code := -1, 0, 0
	for i := range g.Size() {
		if v := binary.LittleEndian.Uint64(all[8*i:]); v != 0 {
			if failed++; first < 0 {
				first, code = i, -int(v)
			}
		}
	}
	if failed == 0 {
		return nil
	}
	e := &ArgError{Code: code, Quiet: g.Me != first,
		Text: fmt.Sprintf("rank %d has failed: %s", g.Ranks[first], consequence)}
	if mine == nil {
		return e
	}
	e.Text = fmt.Sprintf("%v: %s", mine, consequence)
	if failed > 1 {
		e.Text += fmt.Sprintf(" (%d other ranks have failed, too)", failed-1)
	}
	return e
}

// CheckpointFinalize ends a record; its files stay. Collective over its group.
func (cs *checkpoints) CheckpointFinalize(id int) error {
	c, err := cs.record(id)
	if err != nil {
		return err
	}
	c.group.team.Barrier()
	c.files.Close()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.records, id)
	return nil
}

// closeRecords ends the records of a group that the application has not ended, nil: of all groups.
func (cs *checkpoints) closeRecords(of *Group) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for id, c := range cs.records {
		if of == nil || c.group == of {
			c.files.Close()
			delete(cs.records, id)
		}
	}
}
