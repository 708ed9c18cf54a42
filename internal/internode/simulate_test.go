// SPDX-License-Identifier: BSD-3-Clause

// The simulation of this package (docs/debugging.md): builds a test binary of it in which all
// threads, clocks and locks are those of package simulate, and has it run jobs as seeds say.
package internode

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"libarmci/internal/testutil/simulate/rewrite"
)

var (
	seedFlag = flag.Uint64("seed", 0, "TestSimulate: run this seed alone, twice; "+
		"with -v it prints a trace")
	forFlag = flag.Duration("for", 5*time.Second, "TestSimulate: how long new seeds are run")
)

// simulated are the packages that are rewritten.
var simulated = []string{"internal/internode", "internal/testutil/pipe"}

// TestSimulate runs simulated jobs, which must not fail, and one of them twice.
func TestSimulate(t *testing.T) {
	binary := buildSimulation(t)
	if *seedFlag != 0 {
		runSimulation(t, binary, "-sim.seed", strconv.FormatUint(*seedFlag, 10))
		return
	}
	runSimulation(t, binary, "-sim.seed", "1")
	runSimulation(t, binary, "-sim.seeds", strconv.Itoa(1<<40), "-sim.for", forFlag.String())
}

// buildSimulation builds the binary, with patches.
func buildSimulation(t *testing.T, patches ...rewrite.Patch) (binary string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list, err := rewrite.Overlay(root, dir, simulated, patches...)
	if err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, "simulation.test")
	if err = rewrite.Compile(root, list, simulated[0], binary, rewrite.Tag); err != nil {
		t.Fatal(err)
	}
	return binary
}

// runSimulation runs the binary, which must not find a fault.
func runSimulation(t *testing.T, binary string, args ...string) {
	t.Helper()
	args = append([]string{"-test.run", "TestSimulated", "-test.timeout", "0"}, args...)
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	run := exec.Command(binary, args...)
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	if err := run.Run(); err != nil {
		t.Errorf("the simulation: %v", err)
	}
}
