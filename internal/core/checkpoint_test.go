// SPDX-License-Identifier: BSD-3-Clause

// Checkpoints of groups on every shape: restoring, crashes, damage, full disks, other ranks.
package core

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"libarmci/internal/checkpoint"
	"libarmci/internal/kernel"
	"libarmci/internal/log"
)

const savedBytes = 3*checkpoint.BlockBytes + 5

// saver is a rank with a record of one allocation and one block of private memory.
type saver struct {
	*tr
	id            int
	shared, owned []byte
	base          []uintptr
}

// saveIn begins the record.
func saveIn(r *tr, prefix string) *saver {
	base, err := r.Malloc(r.world, savedBytes)
	r.must(err)
	s := &saver{tr: r, base: base, owned: make([]byte, 100),
		shared: unsafe.Slice((*byte)(kernel.Ptr(base[r.Me])), savedBytes)}
	s.id, err = r.CheckpointInit(r.world, CheckpointRequest{File: prefix,
		Ranges: []CheckpointRange{{Addr: base[r.Me], Nbytes: savedBytes},
			{Addr: uintptr(unsafe.Pointer(&s.owned[0])), Nbytes: 100}}})
	r.must(err)
	return s
}

// fill sets the memory of a generation.
func (s *saver) fill(generation int) {
	for i := range s.shared {
		s.shared[i] = byte(16*generation + int(s.Me) + i/checkpoint.BlockBytes)
	}
	for i := range s.owned {
		s.owned[i] = byte(generation)
	}
}

// expect compares the memory with that of a generation.
func (s *saver) expect(generation int) {
	shared, owned := bytes.Clone(s.shared), bytes.Clone(s.owned)
	s.fill(generation)
	if !bytes.Equal(shared, s.shared) || !bytes.Equal(owned, s.owned) {
		s.wrong("this is not the memory of generation %d", generation)
	}
	if g, err := s.CheckpointGeneration(s.id); err != nil || g != int64(generation) {
		s.wrong("generation %d, %v, expected %d", g, err, generation)
	}
}

// On every shape: what is saved is restored, in this job and in the next.
func TestCheckpoint(t *testing.T) {
	everyShape(t, func(r *tr) {
		prefix := filepath.Join(os.TempDir(), fmt.Sprintf("core-%p", r.c))
		s := saveIn(r, prefix)
		for generation := 1; generation <= 3; generation++ {
			s.fill(generation)
			r.must(r.Checkpoint(s.id))
			s.fill(9)
			r.must(r.CheckpointRecover(s.id))
			s.expect(generation)
		}
		r.must(r.CheckpointFinalize(s.id))
		r.Barrier()
		next := saveIn(r, prefix)
		r.must(r.CheckpointRecover(next.id))
		next.expect(3)
		r.Barrier()
		for i := range 2 {
			os.Remove(fmt.Sprintf("%s.%d.%d", prefix, r.Me, i))
		}
	})
}

// The files as they were when a member had reached a point of its fourth checkpoint: what a crash
// there leaves. All members restore the same generation.
func TestCheckpointCutShort(t *testing.T) {
	const ranks = 3
	for _, point := range []string{"begun", "data", "written", "committed"} {
		for member := range ranks {
			t.Run(fmt.Sprint(point, member), func(t *testing.T) {
				cutShort(t, ranks, point, member)
			})
		}
	}
}

// cutShort is TestCheckpointCutShort for a point and a member. A second crash, of a job that has
// restored nothing, leaves the same.
func cutShort(t *testing.T, ranks int, point string, member int) {
	dir, crashed, again := t.TempDir(), t.TempDir(), t.TempDir()
	shape{2, ranks, false}.run(t, nil, copyAt(t, point, member, 4, dir, crashed, 5))
	first := restoredFrom(t, ranks, crashed)
	if first != 3 && !(first == 4 && point == "committed") {
		t.Errorf("generation %d was restored", first)
	}
	work := t.TempDir()
	copyFiles(t, crashed, work)
	shape{2, ranks, false}.run(t, nil, copyAt(t, "data", 0, 1, work, again, 1))
	if second := restoredFrom(t, ranks, again); second != first {
		t.Errorf("generation %d was restored after another crash, %d before it", second,
			first)
	}
}

// copyAt makes checkpoints in a directory, which is copied when a member reaches a point for the
// n-th time.
func copyAt(t *testing.T, point string, member, n int, dir, to string, checkpoints int) func(*tr) {
	var mu sync.Mutex
	reached := 0
	checkpoint.Point = func(at string, by int) {
		mu.Lock()
		defer mu.Unlock()
		if at != point || by != member {
			return
		}
		if reached++; reached == n {
			copyFiles(t, dir, to)
		}
	}
	return func(r *tr) {
		s := saveIn(r, filepath.Join(dir, "saved"))
		last, err := r.CheckpointGeneration(s.id)
		r.must(err)
		for range checkpoints {
			last++
			s.fill(int(last))
			r.must(r.Checkpoint(s.id))
		}
	}
}

// restoredFrom is the generation that all ranks restore from a copy of a directory.
func restoredFrom(t *testing.T, ranks int, dir string) int {
	checkpoint.Point = nil
	work := t.TempDir()
	copyFiles(t, dir, work)
	restored := make([]int, ranks)
	shape{2, ranks, false}.run(t, nil, func(r *tr) {
		s := saveIn(r, filepath.Join(work, "saved"))
		r.must(r.CheckpointRecover(s.id))
		generation, err := r.CheckpointGeneration(s.id)
		r.must(err)
		s.expect(int(generation))
		restored[r.Me] = int(generation)
		s.fill(int(generation) + 2)
		r.must(r.Checkpoint(s.id))
		s.fill(0)
		r.must(r.CheckpointRecover(s.id))
		s.expectMemory(int(generation) + 2)
	})
	if slices.Min(restored) != slices.Max(restored) {
		t.Errorf("the ranks have restored generations %v", restored)
	}
	return restored[0]
}

// copyFiles copies all files of a directory.
func copyFiles(t *testing.T, from, to string) {
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), b, 0o666)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// Where the newest generation is damaged at one rank, that rank says which byte, and all restore
// the one before. The next checkpoint repairs it.
func TestCheckpointDamaged(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	defer log.SetSink(func(line []byte) {
		mu.Lock()
		lines = append(lines, string(line))
		mu.Unlock()
	})()
	prefix := filepath.Join(t.TempDir(), "saved")
	shape{2, 4, true}.run(t, nil, func(r *tr) {
		s := saveIn(r, prefix)
		for generation := 1; generation <= 2; generation++ {
			s.fill(generation)
			r.must(r.Checkpoint(s.id))
		}
		if r.Me == 2 {
			damage(t, prefix+".2.0", 3*checkpoint.BlockBytes)
		}
		r.Barrier()
		r.must(r.CheckpointRecover(s.id))
		s.expect(1)
		s.fill(2)
		r.must(r.Checkpoint(s.id)) // into the slot that was damaged, over the same bytes
		s.fill(0)
		r.must(r.CheckpointRecover(s.id))
		s.expectMemory(2)
	})
	text := strings.Join(lines, "")
	if !strings.Contains(text, prefix+".2.0: bytes ") ||
		!strings.Contains(text, "range 0") || len(lines) != 1 {
		t.Errorf("the damage was reported so: %q", text)
	}
}

// expectMemory is expect where generations have other numbers.
func (s *saver) expectMemory(generation int) {
	was := bytes.Clone(s.shared)
	if s.fill(generation); !bytes.Equal(was, s.shared) {
		s.wrong("this is not the memory of generation %d", generation)
	}
}

// damage changes a byte.
func damage(t *testing.T, name string, at int64) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	b := make([]byte, 1)
	f.ReadAt(b, at)
	b[0] ^= 1
	f.WriteAt(b, at)
}

// If one member cannot write, all get an error, none waits, and the checkpoint before is restored.
func TestCheckpointDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	defer log.SetSink(func([]byte) {})()
	prefix := filepath.Join(t.TempDir(), "saved")
	if err := os.Symlink("/dev/full", prefix+".1.0"); err != nil {
		t.Fatal(err)
	}
	shape{2, 3, false}.run(t, nil, func(r *tr) {
		s := saveIn(r, prefix)
		s.fill(1)
		r.must(r.Checkpoint(s.id)) // into slot 1
		for range 2 {
			s.fill(2)
			err := r.Checkpoint(s.id)
			if CodeOf(err) != CodeInternal || IsQuiet(err) != (r.Me != 1) ||
				r.Me == 1 && !strings.Contains(err.Error(), "no space") {
				r.wrong("a full disk at rank 1: %v", err)
			}
		}
		r.must(r.CheckpointRecover(s.id))
		s.expect(1)
	})
}

// An array with a declared distribution is restored by any number of ranks, on any nodes; one
// without is refused.
func TestCheckpointOtherRanks(t *testing.T) {
	const rows, columns = 37, 11
	prefix := filepath.Join(t.TempDir(), "saved")
	defer log.SetSink(func([]byte) {})()
	generation := 0
	for _, s := range []shape{{2, 4, false}, {1, 2, false}, {3, 5, false}, {1, 1, false},
		{2, 6, true}} {
		s.run(t, nil, func(r *tr) { otherRanks(r, prefix, generation, rows, columns) })
		generation++
	}
	shape{1, 3, false}.run(t, nil, func(r *tr) {
		block := r.localByte()
		block[0] = 1
		id, err := r.CheckpointInit(r.world, CheckpointRequest{File: prefix,
			Ranges: []CheckpointRange{{Addr: uintptr(unsafe.Pointer(&block[0])),
				Nbytes: 1}}})
		r.must(err)
		if err := r.CheckpointRecover(id); CodeOf(err) != CodeInternal || block[0] != 1 {
			r.wrong("without a distribution: %v", err)
		}
	})
}

// localByte is a byte that stays where it is, as Go's stacks do not.
func (r *tr) localByte() []byte {
	at, err := r.MallocLocal(1)
	r.must(err)
	return unsafe.Slice((*byte)(kernel.Ptr(at)), 1)
}

// otherRanks restores the array that former ranks have saved, changes and saves it.
func otherRanks(r *tr, prefix string, generation, rows, columns int) {
	lo, hi := int(r.Me)*rows/r.N, (int(r.Me)+1)*rows/r.N
	base, err := r.Malloc(r.world, int64((hi-lo)*columns))
	r.must(err)
	var mem []byte
	if base[r.Me] != 0 {
		mem = unsafe.Slice((*byte)(kernel.Ptr(base[r.Me])), (hi-lo)*columns)
	}
	step := r.localByte()
	id, err := r.CheckpointInit(r.world, CheckpointRequest{File: prefix,
		Ranges: []CheckpointRange{{Addr: uintptr(unsafe.Pointer(&step[0])), Nbytes: 1},
			{Addr: base[r.Me], Nbytes: int64(len(mem))}}})
	r.must(err)
	r.must(r.CheckpointDistribute(id, 0, &checkpoint.Box{}))
	r.must(r.CheckpointDistribute(id, 1, &checkpoint.Box{ElemBytes: 1,
		Dims: []int64{int64(rows), int64(columns)}, Lo: []int64{int64(lo), 0},
		Hi: []int64{int64(hi), int64(columns)}}))
	if found, err := r.CheckpointGeneration(id); err != nil || int(found) != generation {
		r.wrong("generation %d, %v, expected %d", found, err, generation)
	}
	if generation > 0 {
		r.must(r.CheckpointRecover(id))
		if int(step[0]) != generation {
			r.wrong("step %d, expected %d", step[0], generation)
		}
		for i, v := range mem {
			if want := byte((lo*columns + i) * generation); v != want {
				r.wrong("element %d is %d, expected %d", lo*columns+i, v, want)
				break
			}
		}
	}
	step[0]++
	for i := range mem {
		mem[i] = byte((lo*columns + i) * int(step[0]))
	}
	r.must(r.Checkpoint(id))
}
