// SPDX-License-Identifier: BSD-3-Clause

// Package checkpoint keeps saved memory in files: the format, checksums, generations, and how parts
// of an array are read by members that hold other parts. It must not know ranks, groups or regions:
// core decides what is saved, and which generation all members have.
//
// Each member of a group has two files, PREFIX.MEMBER.0 and PREFIX.MEMBER.1, the slots. A
// checkpoint is written into the slot that does not hold the last complete one, so that a crash
// loses nothing:
//
//  1. Write marks the slot as incomplete, writes the blocks that differ from the slot's own
//     checksums, then the checksums, and waits until the disk has them.
//  2. When all members have done so, Commit marks the slot as complete.
//
// A generation is usable if the files of all its members are complete and have the same stamp.
// Since a generation is committed by all or by none, up to the members that a crash prevents, the
// one before it is still whole.
//
// Changed blocks are found by comparing checksums and not by asking the kernel: soft-dirty bits,
// PAGEMAP_SCAN and userfaultfd see stores through the caller's own page table only, but memory of
// the arena is stored to by other processes, and by network devices through no page table.
package checkpoint
