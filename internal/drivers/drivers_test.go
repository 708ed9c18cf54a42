// SPDX-License-Identifier: BSD-3-Clause

// The real platform under core, in one process: a node of one rank, with settings as a job would
// have them.
package drivers

import (
	"errors"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"libarmci/internal/config"
	"libarmci/internal/core"
	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// single is a job of one rank.
type single struct{ closed bool }

func (*single) Kind() string                                  { return "test" }
func (*single) Rank() int                                     { return 0 }
func (*single) Size() int                                     { return 1 }
func (*single) Split(string) (int, int, error)                { return 0, 1, nil }
func (*single) GatherNode(mine []byte) ([][]byte, error)      { return [][]byte{mine}, nil }
func (*single) ExchangeLeaders(mine []byte) ([][]byte, error) { return [][]byte{mine}, nil }
func (*single) EndExchange()                                  {}
func (*single) WorldComm() uintptr                            { return 0 }
func (*single) GroupComm([]int, int) (uintptr, error)         { return 0, nil }
func (*single) FreeComm(uintptr)                              {}
func (*single) Abort(code int)                                { panic("abort") }
func (*single) Die(code int)                                  { panic("die") }
func (j *single) Close() error                                { j.closed = true; return nil }

func settings(t *testing.T, environ ...string) *config.Set {
	t.Helper()
	s, err := config.LoadFrom(environ)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Twice in one process, one after the other, as programs may initialise again.
func TestOneRank(t *testing.T) {
	leaktest.Check(t)
	for range 2 {
		p, job := New(settings(t, "ARMCI_SHM_ARENA=1g")), &single{}
		r, err := core.Start(settings(t), job, p)
		if err != nil {
			t.Fatal(err)
		}
		if p.Node.Bytes() != 1<<30 || len(p.Providers()) != 3 {
			t.Errorf("an arena of %d bytes, %d providers", p.Node.Bytes(),
				len(p.Providers()))
		}
		w, err := r.Group(core.World)
		if err != nil {
			t.Fatal(err)
		}
		mem, err := r.Malloc(w, 4096)
		if err != nil {
			t.Fatal(err)
		}
		word := (*int64)(kernel.Ptr(mem[0]))
		*word = 41
		x := &transport.RMW{Op: transport.FetchAdd, Bytes: 8, Addr: mem[0], Operand: 1}
		if err := r.RMW(0, x); err != nil || x.Old != 41 || *word != 42 {
			t.Errorf("%v: %d became %d", err, x.Old, *word)
		}
		if err := r.Finalize(); err != nil || !job.closed {
			t.Errorf("%v, job closed: %v", err, job.closed)
		}
	}
}

// TestDocumentedTransports: docs/running.md says which transports there are between nodes, the
// preferred one first.
func TestDocumentedTransports(t *testing.T) {
	text, err := os.ReadFile("../../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	sentence := regexp.MustCompile("(?m)^- Between nodes: ([^.]*)\\.").FindSubmatch(text)
	if sentence == nil {
		t.Fatal("docs/running.md: no \"- Between nodes: \" under Limits")
	}
	var said, there []string
	for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllSubmatch(sentence[1], -1) {
		said = append(said, string(name[1]))
	}
	for _, p := range New(settings(t)).Providers() {
		there = append(there, p.Name)
	}
	if !slices.Equal(said, there) {
		t.Errorf("docs/running.md: between nodes %q, but there are %q", said, there)
	}
}

// TestCheck shows which values of settings are refused, with the name of the setting.
func TestCheck(t *testing.T) {
	for entry, ok := range map[string]bool{
		"ARMCI_TCP_PORTS=7000": true, "ARMCI_TCP_PORTS=7000-7100": true,
		"ARMCI_TCP_PORTS=70-7": false, "ARMCI_TCP_PORTS=99999": false,
		"ARMCI_TCP_INTERFACE=eth0": true, "ARMCI_TCP_INTERFACE=eth0:1": true,
		"ARMCI_TCP_INTERFACE=10.0.0.0/8":  true,
		"ARMCI_TCP_INTERFACE=10.0.0.0/99": false, "ARMCI_TCP_INTERFACE=fe80::/10": true,
		"ARMCI_TCP_INTERFACE=eth0,eth1": false,
		"ARMCI_RDMA_DEVICE=mlx5_0":      true, "ARMCI_RDMA_DEVICE=mlx5_0:1": true,
		"ARMCI_RDMA_DEVICE=mlx5_0:one": false,
		"ARMCI_RDMA_GID=3":             true, "ARMCI_RDMA_GID=-1": false,
		"ARMCI_COST_MODEL=auto": true,
		"ARMCI_COST_MODEL=fast": false,
	} {
		err := Check(settings(t, entry))
		name, _, _ := strings.Cut(entry, "=")
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", entry, err)
		}
	}
	err := Check(settings(t, "ARMCI_TCP_PORTS=x", "ARMCI_RDMA_GID=y"))
	if err == nil || strings.Contains(err.Error(), "\n") ||
		!strings.Contains(err.Error(), "ARMCI_RDMA_GID") {
		t.Errorf("two bad ones: %v", err)
	}
}

// A rank that cannot join closes its listener again.
func TestCannotJoin(t *testing.T) {
	leaktest.Check(t)
	p := New(settings(t, "ARMCI_SHM_ARENA=1m"))
	if _, err := core.Start(settings(t), &single{}, p); err == nil ||
		!strings.Contains(err.Error(), "ARMCI_SHM_ARENA") {
		t.Errorf("%v", err)
	}
}

// lonely is a job whose exchange fails.
type lonely struct{ single }

func (*lonely) GatherNode([]byte) ([][]byte, error) { return nil, errors.New("nobody there") }

// A rank that does not come as far as joining closes its listener too.
func TestNothingToJoin(t *testing.T) {
	var kept []*Platform // else the collector might close them
	t.Cleanup(func() { runtime.KeepAlive(kept) })
	leaktest.Check(t)
	for range 3 {
		p := New(settings(t))
		kept = append(kept, p)
		if _, err := core.Start(settings(t), &lonely{}, p); err == nil ||
			!strings.Contains(err.Error(), "nobody there") {
			t.Errorf("%v", err)
		}
	}
}

// The default address space of 16 TiB can be had in an ordinary process.
func TestDefaults(t *testing.T) {
	leaktest.Check(t)
	p := New(settings(t))
	r, err := core.Start(settings(t), &single{}, p)
	if err != nil {
		t.Fatal(err)
	}
	if p.Node.Bytes() < 1<<30 {
		t.Errorf("an arena of %d bytes", p.Node.Bytes())
	}
	if err := r.Finalize(); err != nil {
		t.Error(err)
	}
}
