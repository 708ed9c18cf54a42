// SPDX-License-Identifier: BSD-3-Clause

// The Go side of teams: each method is one call of C (team.c, collect.c).
package shm

// #include <stdlib.h>
// #include "shm.h"
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"libarmci/internal/transport"
)

// team implements transport.Team. scratch is memory of C for gathered data: cgo need not check it
// for Go pointers.
type team struct {
	h       *C.struct_shm_team
	scratch []byte
	spare   *sync.Mutex // of the team that uses the spare memory, until its release
}

// teams implements transport.Teams.
type teams struct {
	world    *team // all ranks of the node, with context 0
	contexts int   // collective contexts of the node

	// A member without memory for a team of its own takes part in the first collective calls
	// with spare memory, so that all members learn of it.
	spareMu     sync.Mutex // held by the team that uses that memory
	outOfMemory bool       // set by tests
}

// AllocContext allocates a collective context of the node for a new team.
func (m *teams) AllocContext() (transport.TeamStart, error) {
	id := C.shm_context_alloc()
	if id < 0 {
		return transport.TeamStart{}, fmt.Errorf("%w: more than %d groups on this node",
			transport.ErrNoMemory, m.contexts)
	}
	var phase, step C.uint64_t
	C.shm_context_start(id, &phase, &step)
	return transport.TeamStart{Context: int64(id), Phase: uint64(phase), Step: uint64(step)},
		nil
}

// AttachTeam attaches this rank to a team. A member has allocated the context. members are local
// numbers, of which members[me] is this rank's.
func (m *teams) AttachTeam(s transport.TeamStart, members []int, me int) (transport.Team, error) {
	if !m.outOfMemory {
		if h := C.shm_team_new(C.int(len(members))); h != nil {
			return attachTeam(h, s, members, me), nil
		}
	}
	m.spareMu.Lock()
	t := attachTeam(C.shm_team_spare(), s, members, me)
	t.spare = &m.spareMu
	return t, fmt.Errorf("%w: no memory for a group of %d ranks of this node",
		transport.ErrNoMemory, len(members))
}

// worldTeam attaches this rank to the team of all, which has context 0, and reserves the spare
// memory.
func (m *teams) worldTeam(members []int, me int) (*team, error) {
	h := C.shm_team_new(C.int(len(members)))
	if h == nil || !bool(C.shm_team_reserve()) {
		return nil, fmt.Errorf("%w: no memory for the group of %d ranks of this node",
			transport.ErrNoMemory, len(members))
	}
	return attachTeam(h, transport.TeamStart{}, members, me), nil
}

func attachTeam(h *C.struct_shm_team, s transport.TeamStart, members []int, me int) *team {
	local := make([]C.int, len(members))
	for i, l := range members {
		local[i] = C.int(l)
	}
	C.shm_team_attach(h, C.int(s.Context), C.int(len(local)), &local[0], C.int(me),
		C.uint64_t(s.Phase), C.uint64_t(s.Step))
	return &team{h: h,
		scratch: unsafe.Slice((*byte)(h.gather_buf), (len(members)+1)*C.SHM_SMALL)}
}

// World is the team of all ranks of the node.
func (m *teams) World() transport.Team { return m.world }

func (t *team) Size() int               { return int(t.h.n) }
func (t *team) Rank() int               { return int(t.h.me) }
func (t *team) Pointer() unsafe.Pointer { return unsafe.Pointer(t.h) }
func (t *team) Barrier()                { C.shm_barrier(t.h) }

func (t *team) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	C.shm_bcast(t.h, buf, C.size_t(nbytes), C.int(root))
}

func (t *team) Allgather(mine []byte) []byte {
	in, out := t.scratch[:len(mine)], t.scratch[C.SHM_SMALL:]
	copy(in, mine)
	C.shm_allgather(t.h, unsafe.Pointer(&in[0]), C.size_t(len(mine)), unsafe.Pointer(&out[0]))
	return out[:len(mine)*t.Size()]
}

func (t *team) Allreduce(x unsafe.Pointer, nelem int64, typ, red int) {
	C.shm_allreduce(t.h, x, C.size_t(nelem), C.int(typ), C.int(red))
}

func (t *team) Release(last bool) {
	if last {
		C.shm_context_free(t.h.id)
	}
	C.shm_team_detach(t.h)
	if t.spare != nil {
		t.spare.Unlock()
	}
	*t = team{}
}
