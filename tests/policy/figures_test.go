// SPDX-License-Identifier: BSD-3-Clause

// Figures that documents repeat from the code are those of the code: limits, thresholds, defaults,
// numbers of things. What was measured is measured_test.go's.

package policy

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// stated says where the code has what a document says: both expressions have the figure in their
// one group. A line of the document may be broken at any space of the expression. As expression of
// the code "rows" is the number of rows of the file, "heading" that of numbered headings, "lines"
// that of lines of Go in the directory, which may differ by a sixth.
var stated = []struct{ document, says, file, code string }{
	{"docs/running.md", `the others end within (\w+ seconds) with a line`,
		"internal/config/table.go",
		setting("ARMCI_TIMEOUT")},
	{"CONTRIBUTING.md", `at most (\d+) lines, and beyond \d+ it says`,
		"tests/policy/policy_test.go", `maxLines += (\d+)`},
	{"CONTRIBUTING.md", `lines, and beyond (\d+) it says`, "tests/policy/policy_test.go",
		`explainLines = (\d+)`},
	{"CONTRIBUTING.md", `a function has at most (\d+) lines`, "tests/policy/policy_test.go",
		`maxFunction += (\d+)`},
	{"docs/coarrays.md", `share chunks of ([\d.]+ \w+) and are kept`, "caf/heap.c",
		`CHUNK = (.*),`},
	{"docs/coarrays.md", `above (4 MiB) by several`, "caf/private.c", `PIECE = (.*?),`},
	{"docs/debugging.md", `alternate stack of ([\d.]+ KiB)`, "internal/guest/signals.c",
		`STACK = (.*?) }`},
	{"docs/threads.md", `alternate signal stack of ([\d.]+ KiB)`, "internal/guest/signals.c",
		`STACK = (.*?) }`},
	{"docs/threads.md", `GOMAXPROCS is (\d+)`, "internal/transport/platform.go",
		`Procs = (\d+)`},
	{"docs/threads.md", `than (\d+) threads`, "internal/guest/procs.go", `fewThreads = (\d+)`},
	{"docs/threads.md", `late by (\d+) ms`, "internal/guest/monitor.c", `SLACK = (\d+)000000`},
	{"docs/threads.md", `calls the scheduler every (\d+ ms)`, "internal/internode/poller.go",
		`scheduleEvery = (.*)`},
	{"docs/threads.md", `at least (\d+) us and at most`, "internal/wait/wait.h",
		`WAIT_LEAST_WAKE = (\d+)000,`},
	{"docs/threads.md", `at most (\d+) us; else`, "internal/wait/wait.h",
		`WAIT_MOST_WAKE = (\d+)000,`},
	{"docs/protocols.md", `\(.ARMCI_CONNECTIONS., (\d+);`, "internal/config/table.go",
		setting("ARMCI_CONNECTIONS")},
	{"docs/protocols.md", `at most (\d+) frames at a target`, "internal/rdma/fabric.go",
		`credits = (\d+)`},
	{"docs/protocols.md", `contiguous puts of up to (\d+ bytes)`, "internal/rdma/origin.go",
		`inlineBytes = (\d+)`},
	{"docs/protocols.md", `fits into the first piece \((\d+ KiB),`, "internal/rdma/direct.go",
		`firstChunkBytes = (.*)`},
	{"docs/protocols.md", `a fragment of at most (\d+ KiB) \|`, "internal/core/two_sided.go",
		`fragmentBytes = (.*?) //`},
	{"docs/protocols.md", `After (\d+ KiB) a sender requests`, "internal/core/two_sided.go",
		`ackBytes += (.*?) //`},
	{"docs/protocols.md", `header and data of (\d+ MiB) each`, "internal/core/gpc.go",
		`MaxProcedure = (.*)`},
	{"docs/protocols.md", `fragments of (\d+ KiB), so that nodes work`,
		"internal/core/leader_bcast.go", `pipelineBytes = (.*)`},
	{"docs/protocols.md", `a piece of up to (\d+ KiB) \(so`,
		"internal/core/leader_ring.go", `ringPiece = (.*?) //`},
	{"docs/protocols.md", `up to (\d+ KiB) recursive doubling`,
		"internal/core/leader_reduce.go", `shortReduction = (.*?) //`},
	{"docs/protocols.md", `in fragments of (\d+ KiB), recursive halving`,
		"internal/core/leader_reduce.go", `reduceBytes += (.*?) //`},
	{"docs/wire.md", `An accumulate with an id fetches: at most (\d+ KiB)`,
		"internal/internode/far.go", `type piece \[(.*)\]byte`},
	{"docs/wire.md", `Version (\d+) of what travels`, "internal/transport/hello.go",
		`WireVersion = (.*?) //`},
	{"docs/wire.md", `u32 version \| (\d+) \|`, "internal/transport/hello.go",
		`WireVersion = (.*?) //`},
	{"docs/protocols.md", `a get is answered in pieces of (\d+ KiB)`,
		"internal/internode/far.go", `type piece \[(.*)\]byte`},
	{"docs/protocols.md", `entries, of (\d+ MiB) each, and .ARMCI_PIN.`,
		"internal/pin/cache.go", `chunkBytes += (.*?) //`},
	{"docs/node.md", `up to (\d+ MiB) in one allocation`, "internal/core/malloc.go",
		`maxMappedBytes = (.*)`},
	{"docs/statistics.md", `.ARMCI_TRACE_LIMIT. \((\d+ GiB),`, "internal/config/table.go",
		setting("ARMCI_TRACE_LIMIT")},
	{"docs/validation.md", `an accumulate lock covers (\d+ KiB)`, "internal/kernel/kernel.h",
		`K_STRIPE_SHIFT (\d+) `},
	{"docs/validation.md", `(\d+) programs of ours in`, "tests/ga/programs.txt", `rows`},
	{"docs/performance.md", `by locks that cover (\d+ KiB) each`, "internal/kernel/kernel.h",
		`K_STRIPE_SHIFT (\d+) `},
	{"docs/performance.md", `remembers up to (\d+) allocations`, "capi/front.h",
		`FRONT_HITS (\d+)`},
	{"docs/performance.md", `collected in C, (\d+) at a time`, "capi/front.h",
		`FRONT_BATCH +(\d+)`},
	{"docs/performance.md", `under up to (\d+) handles`, "capi/front.h", `FRONT_BATCHES (\d+)`},
	{"docs/performance.md", `of more than (\d+) rows stays`, "internal/core/aggregate.go",
		`mostBlocks = (\d+)`},
	{"docs/performance.md", `Up to .ARMCI_EAGER. \((\d+ KiB)\)`, "internal/config/table.go",
		setting("ARMCI_EAGER")},
	{"docs/performance.md", `copied at the call \| up to (\d+ KiB)`, "internal/config/table.go",
		setting("ARMCI_EAGER")},
	{"docs/performance.md", `of up to (\d+ bytes) are posted in C`, "internal/rdma/origin.go",
		`inlineBytes = (\d+)`},
	{"docs/performance.md", `posted in C \(RDMA\) \| up to (\d+) MiB`,
		"internal/transport/fast.h", `FAST_MOST \((\d+) << 20`},
	{"docs/performance.md", `up to .ARMCI_SHM_KEEP. \((\d+ MiB)`, "internal/config/table.go",
		setting("ARMCI_SHM_KEEP")},
	{"docs/performance.md", `by process \| (\d+ MiB)`, "internal/config/table.go",
		setting("ARMCI_BUFFER")},
	{"docs/performance.md", `that a data server keeps \| (\d+)`, "internal/config/table.go",
		setting("ARMCI_CONNECTIONS")},
	{"docs/performance.md", `sleeps \| (\d+ us) over TCP`, "internal/config/table.go",
		`(?s)"ARMCI_POLL".*?"tcp": "(\w+)"`},
	{"docs/performance.md", `over TCP, (\d+ us) over RDMA`, "internal/config/table.go",
		`(?s)"ARMCI_POLL".*?"rdma": "(\w+)"`},
	{"docs/tutorial.md", `(\w+) steps, each with a program`, "docs/tutorial.md", `heading`},
	{"README.md", `tutorial.md\): (\w+) steps`, "docs/tutorial.md", `heading`},
	{"docs/adding-a-fabric.md", `.pipe. has ([\d,]+)`, "internal/testutil/pipe", `lines`},
	{"docs/adding-a-fabric.md", `.internal/tcp. ([\d,]+) and`, "internal/tcp", `lines`},
	{"docs/adding-a-fabric.md", `.internal/rdma. ([\d,]+), since`, "internal/rdma", `lines`},
	{"docs/adding-a-fabric.md", `.internal/ofi.: ([\d,]+) lines of Go`, "internal/ofi",
		`lines`},
	{"docs/protocols.md", `on each side \((\d+) ns\), or`, "internal/tcp/fabric.go",
		`pieceCost = (\d+)`},
	{"docs/protocols.md", `rows from (\d+) bytes on leave`, "internal/tcp/fabric.go",
		`usualRow += (.*?) //`},
	{"docs/performance.md", `\| from (\d+) bytes \|`, "internal/tcp/fabric.go",
		`usualRow += (.*?) //`},
	{"docs/man/armcirun.1", `Number of ranks, at most (\d+)`, "cmd/armcirun/main.go",
		`mostRanks += (\d+)`},
	{"docs/man/armci_perf.1", `1 to 99; (\d+) if not given`, "cmd/armci_perf/main.go",
		`o.reps == 0 \{\s+o.reps = (\d+)`},
}

// setting finds the default of a setting in the table of internal/config.
func setting(name string) string { return `(?s)"` + name + `".*?Default: +"(\w+)"` }

// TestStatedFigures compares figures that documents state with those of the code.
func TestStatedFigures(t *testing.T) {
	for _, s := range stated {
		said := group(t, s.document, strings.ReplaceAll(s.says, " ", `\s+`))
		is, inexact := code(t, s.file, s.code)
		if said == "" || is == "" {
			continue // reported
		}
		a, okA := value(said)
		b, okB := value(is)
		if !okA || !okB || a != b && !(inexact && math.Abs(a-b) < b/6) {
			t.Errorf("%s says %q; %s has %s", s.document, said, s.file, is)
		}
	}
}

// code is the figure that the code has, and whether it is one that changes often.
func code(t *testing.T, file, expression string) (figure string, inexact bool) {
	t.Helper()
	switch expression {
	case "rows":
		return fmt.Sprint(len(regexp.MustCompile(`(?m)^\w`).FindAllString(read(t, file),
			-1))), false
	case "heading":
		return fmt.Sprint(len(regexp.MustCompile(`(?m)^## \d`).FindAllString(read(t, file),
			-1))), false
	case "lines":
		lines := 0
		files, _ := filepath.Glob(filepath.Join("..", "..", file, "*.go"))
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				lines += strings.Count(read(t,
					filepath.Join(file, filepath.Base(name))), "\n")
			}
		}
		return fmt.Sprint(lines), true
	}
	figure = group(t, file, expression)
	if strings.Contains(expression, "SHIFT") {
		figure = "1<<" + figure
	}
	return figure, false
}

// group is what the one group of an expression matches in a file.
func group(t *testing.T, file, expression string) string {
	t.Helper()
	m := regexp.MustCompile(expression).FindStringSubmatch(read(t, file))
	if m == nil {
		t.Errorf("%s has nothing like %q any more: correct the row in figures_test.go",
			filepath.ToSlash(file), expression)
		return ""
	}
	return m[1]
}

var (
	units = map[string]float64{"k": 1 << 10, "KiB": 1 << 10, "m": 1 << 20, "MiB": 1 << 20,
		"g": 1 << 30, "GiB": 1 << 30, "t": 1 << 40,
		// times in nanoseconds
		"bytes": 1, "": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "seconds": 1e9}
	words = strings.Fields("zero one two three four five six seven eight nine ten eleven " +
		"twelve")
	number = regexp.MustCompile(`^([\d.]+) ?([A-Za-z]*)$`)
)

// value understands "64 KiB", "8k", "1,500", "10s", "ten seconds", "4 * time.Millisecond", "256 <<
// 10" and "130 * 1000 / 155".
func value(s string) (float64, bool) {
	var a, b, c float64
	if n, _ := fmt.Sscanf(s, "%f * %f / %f", &a, &b, &c); n == 3 {
		return math.Floor(a * b / c), true
	}
	s = strings.NewReplacer(" * time.Millisecond", "ms", " * time.Second", "s", ",", "",
		"u << ", " << ", "<<", " << ").Replace(strings.TrimSpace(s))
	for i, w := range words {
		if first, rest, _ := strings.Cut(s, " "); strings.EqualFold(first, w) {
			s = strings.TrimSpace(fmt.Sprint(i) + " " + rest)
		}
	}
	base, shift, shifted := strings.Cut(strings.Join(strings.Fields(s), " "), " << ")
	m := number.FindStringSubmatch(base)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	unit, known := units[m[2]]
	if shifted {
		bits, e := strconv.Atoi(shift)
		return n * float64(int64(1)<<bits), e == nil && err == nil
	}
	return n * unit, err == nil && known
}

// TestValue reads figures as code and documents write them.
func TestValue(t *testing.T) {
	for text, want := range map[string]float64{"64 KiB": 65536, "8k": 8192, "10s": 1e10,
		"ten seconds": 1e10, "4 * time.Millisecond": 4e6,
		"256 << 10": 1 << 18, "1<<15": 32768, "16m": 16 << 20, "256 bytes": 256, "seven": 7,
		"1,500": 1500, "130 * 1000 / 155": 838, "20us": 20e3, "64u << 10": 65536} {
		if got, ok := value(text); !ok || got != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	if _, ok := value("some 30"); ok {
		t.Error("no figure was taken for one")
	}
}
