// SPDX-License-Identifier: BSD-3-Clause

// Nodes and exchanges of a job under a real MPI: this test runs itself under each launcher that is
// installed.
package bootstrap

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"libarmci/internal/config"
)

const mpiRanks = 5

// The ranks of an MPI job find their nodes and exchange strings, with Open MPI and with MPICH.
func TestNodesUnderMPI(t *testing.T) {
	for name, args := range map[string][]string{"mpirun.openmpi": {"--oversubscribe",
		"--allow-run-as-root"}, "mpiexec.mpich": nil} {
		t.Run(name, func(t *testing.T) {
			launcher, err := exec.LookPath(name)
			if err != nil {
				t.Skip("there is no " + name)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			args := append(args, "-n", fmt.Sprint(mpiRanks), os.Args[0],
				"-test.run=^TestRankUnderMPI$")
			cmd := exec.CommandContext(ctx, launcher, args...)
			cmd.Env = append(cmd.Environ(), "BOOTSTRAP_TEST_RANK=1")
			out, err := cmd.CombinedOutput()
			if got := strings.Count(string(out), "met all"); err != nil ||
				got != mpiRanks {
				t.Errorf("%d of %d ranks are done, %v:\n%s", got, mpiRanks, err,
					out)
			}
		})
	}
}

// TestRankUnderMPI is one rank of that.
func TestRankUnderMPI(t *testing.T) {
	if os.Getenv("BOOTSTRAP_TEST_RANK") == "" {
		t.Skip("not started by TestNodesUnderMPI")
	}
	runtime.LockOSThread() // MPI's thread
	s, err := config.LoadFrom(Environ())
	if err != nil {
		t.Fatal(err)
	}
	j, err := Start(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if j.Size() != mpiRanks || !strings.HasPrefix(j.Kind(), "mpi") {
		t.Fatalf("%d ranks, started by %s", j.Size(), j.Kind())
	}
	a, b := sameHash()
	for _, placement := range placements {
		if len(placement) != mpiRanks {
			continue
		}
		for round, keys := range []map[byte]string{nil, {'a': a, 'b': b}} {
			splitBy(t, j, placement, keys)
			exchanges(t, j, placement, round)
			exchanges(t, j, placement, 7)
			j.EndExchange()
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	FinalizeMPI()
	if !t.Failed() {
		fmt.Println("met all")
	}
}

// sameHash is two keys that MPI alone would take for one node.
func sameHash() (a, b string) {
	seen := map[int]string{}
	for i := 0; ; i++ {
		key := fmt.Sprint("key ", i)
		if other, found := seen[hashOf(key)]; found {
			return other, key
		}
		seen[hashOf(key)] = key
	}
}
