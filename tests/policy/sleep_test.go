// SPDX-License-Identifier: BSD-3-Clause

// A loop that sleeps waits for something which it could be told. Where nothing can tell it, the
// list says why.
package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// sleepingLoops are the files of the product that call time.Sleep in a loop.
var sleepingLoops = map[string]string{
	"internal/acceptqueue/redial.go":    "a pause between attempts to connect",
	"internal/acceptqueue/waiting.go":   "the system has no descriptor left",
	"internal/bootstrap/launch/free.go": "flock has no limit of time",
	"internal/bootstrap/launch/wait.go": "process groups that are no children",
	"internal/core/completion.go":       "polls; other threads drive, too",
	"internal/core/event_word.go":       "a device writes the word",
	"internal/core/notify.go":           "a device writes the count",
	"internal/core/two_sided.go":        "room in a mailbox of another process",
	"internal/internode/answer.go":      "polls several connections",
	"internal/internode/incoming.go":    "a visit of a waiter tells no one",
	"internal/internode/link.go":        "a pause between attempts to connect",
	"internal/internode/loss.go":        "polls; and a mutex has no limit of time",
	"internal/internode/measure.go":     "lets the target's server fall asleep",
	"internal/internode/progress.go":    "another thread polls",
	"internal/log/read.go":              "the reader of a pipe",
	"internal/ofi/progress.go":          "the provider is called periodically",
	"internal/rdma/lab/accumulate.go":   "a lock in memory of another node",
	"internal/rdma/lab/ring.go":         "a count in memory of another node",
	"internal/rdma/resume.go":           "a poller takes completions",
	"internal/shm/reporter_shared.go":   "another process begins to listen",
	"internal/tcp/conn.go":              "the kernel's and other threads' sends",
	"internal/tcp/endpoint.go":          "acknowledgements in the kernel",
	"internal/tcp/reconnect.go":         "a pause between attempts to connect",
}

// TestSleepingLoops checks that the list is complete, and has nothing else.
func TestSleepingLoops(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t) {
		if kindOf(s.path) != product || !strings.HasSuffix(s.path, ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), s.path, s.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && sleepsInLoop(fn) {
				found[s.path] = true
			}
		}
	}
	for at := range found {
		if sleepingLoops[at] == "" {
			t.Errorf("%s sleeps in a loop: wait for a condition or a source, or say "+
				"why there is none", at)
		}
	}
	for at := range sleepingLoops {
		if !found[at] {
			t.Errorf("%s does not sleep in a loop: remove it from the list", at)
		}
	}
}

// sleepsInLoop reports whether a loop of the function calls time.Sleep.
func sleepsInLoop(fn *ast.FuncDecl) (sleeps bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			ast.Inspect(n, func(n ast.Node) bool {
				call, ok := n.(*ast.SelectorExpr)
				if ok && call.Sel.Name == "Sleep" {
					pkg, ok := call.X.(*ast.Ident)
					sleeps = sleeps || ok && pkg.Name == "time"
				}
				return true
			})
		}
		return true
	})
	return sleeps
}
