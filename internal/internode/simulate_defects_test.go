// SPDX-License-Identifier: BSD-3-Clause

// Defects that the simulation has to find: each is made in a copy of the code. Some were faults of
// the library once.
package internode

import (
	"flag"
	"os/exec"
	"regexp"
	"testing"

	"libarmci/internal/testutil/simulate/rewrite"
)

var defectsFlag = flag.Bool("defects", false, "TestSimulateFinds: look for all defects")

// defect is a change of the code.
type defect struct {
	name    string
	patches []rewrite.Patch
}

// in is a change of a file of this package.
func in(file, old, new string) rewrite.Patch {
	return rewrite.Patch{File: "internal/internode/" + file, Old: old, New: new}
}

// defects are what must be found. docs/debugging.md has a table of them.
var defects = []defect{
	{"a fence returns early", []rewrite.Patch{in("fence.go",
		"m.link != nil && !m.hasTakenEffect()",
		"m.link != nil && !m.hasTakenEffect() && m.frames%8 != 0")}},
	{"a fence looks at the queue too late", []rewrite.Patch{in("fence.go",
		"if queued || !g.hasHandled(m.frames) && !releasing {",
		"if g.queue.length.Load() > 0 || !g.hasHandled(m.frames) && !releasing {")}},
	{"a credit is given twice", []rewrite.Patch{in("target.go",
		"if most := uint64(g.t.info.Credits); most > 0 &&",
		"if most := 2 * uint64(g.t.info.Credits); most > 0 &&")}},
	{"an acknowledgement before the store", []rewrite.Patch{in("serve.go",
		"\tif o.state.released() && h.kind != kindGoodbye {",
		"\to.handledFrames.Add(1)\n\tif h.flags&flagAck != 0 {\n\t\ta := header{"+
			"kind: kindAck, handled: o.handledFrames.Load()}\n\t\to.ep.Send("+
			"a.append(nil), nil, 0, transport.Now)\n\t}\n"+
			"\tif o.state.released() && h.kind != kindGoodbye {"),
		in("serve.go", "\to.handledFrames.Add(1)\n\tif transport.Rank(h.rank)",
			"\tif transport.Rank(h.rank)")}},
	{"the right to poll is given to two", []rewrite.Patch{in("poller.go",
		"if p.owner.held || p.owner.closed {", "if p.owner.closed {")}},
	{"an accumulate is made twice", []rewrite.Patch{in("apply.go",
		"err := o.applyElements(b)\n\tif errors.Is",
		"err := o.applyElements(b)\n\tif len(b)%24 == 0 {\n\t\to.frame.layout.setCursor("+
			"&o.frame.memory, &o.frame.h)\n\t\terr = o.applyElements(b)\n\t}\n"+
			"\tif errors.Is")}},
	{"a message overtakes queued stores", []rewrite.Patch{in("target.go",
		"if g.queue.length.Load() > 0 {\n\t\tg.queue.recordSender(true)",
		"if false {\n\t\tg.queue.recordSender(true)")}},
	{"a poller that becomes free wakes no thread", []rewrite.Patch{in("poller.go",
		"\tp.owner.held = false\n\tp.owner.changed.Signal()\n",
		"\tp.owner.held = false\n")}},
	{"a request with two answers is complete with the first", []rewrite.Patch{in("request.go",
		"\tr.AddParts(1)\n\tr.answersDue.Add(1)\n",
		"\tif r.answersDue.Add(1) < 2 {\n\t\tr.AddParts(1)\n\t}\n")}},
	{"a message goes over a connection that was released", []rewrite.Patch{in("origin.go",
		"\tif o.state.released() {\n\t\treturn false\n\t}\n", "")}},
	{"a connection is released while requests are open", []rewrite.Patch{in("release.go",
		"!g.requests.isEmpty() ||\n", "\n")}},
	{"a loss leaves an answer in progress open", []rewrite.Patch{in("answer.go",
		"\ta.target.markLost(err)\n\ta.abandonRequest()\n", "\ta.target.markLost(err)\n")}},
	{"a pulse is left to a thread that cannot send it", []rewrite.Patch{in("thread.go",
		"g.progress.pulseDue.Store(true)", "")}},
	{"a thread that waits leaves deferred frames behind", []rewrite.Patch{in("link.go",
		"\t\t\tg.tx.flushDeferred()\n", "")}},
	{"two pollers of one source", []rewrite.Patch{in("link.go",
		"p.close() // nothing is open, so no thread stays in it\n",
		"s.bySource.Delete(p.src)\n\t\ts.mu.Unlock()\n\t\tp.close()\n\t\ts.mu.Lock()\n")}},
	{"a lock is granted to two", []rewrite.Patch{in("serve.go",
		"\to.message.dispatch(o.server.t, o.rank, transport.Rank(h.rank), h.what, reply)",
		"\tif first := reply; first != nil && h.what == simAcquire {\n\t\tfirst("+
			"nil)\n\t\treply = func([]byte) {}\n\t}\n"+
			"\to.message.dispatch(o.server.t, o.rank, transport.Rank(h.rank), h.what, "+
			"reply)")}},
	{"a device's store by a sender is not polled for", []rewrite.Patch{in("queue.go",
		"p.requestUnattended()", "_ = p")}},
}

// seedsNeeded is in the report of a failure.
var seedsNeeded = regexp.MustCompile(`after (\d+) seeds`)

// reason is in it, too.
var reason = regexp.MustCompile(`seed \d+: .*`)

// TestSimulateFinds checks that the simulation finds each defect within two minutes. Without
// -defects it looks for the first one alone.
func TestSimulateFinds(t *testing.T) {
	for i, d := range defects {
		if i > 0 && !*defectsFlag {
			t.Log("all others only with -defects")
			break
		}
		t.Run(d.name, func(t *testing.T) {
			binary := buildSimulation(t, d.patches...)
			run := exec.Command(binary, "-test.run", "TestSimulated", "-sim.first", "1",
				"-sim.seeds", "1000000", "-sim.for", "2m")
			out, err := run.CombinedOutput()
			if err == nil {
				t.Fatalf("it is not found:\n%s", out)
			}
			found := seedsNeeded.FindSubmatch(out)
			if found == nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("found after %s seeds: %s", found[1], reason.Find(out))
		})
	}
}
