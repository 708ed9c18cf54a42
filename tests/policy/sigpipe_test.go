// SPDX-License-Identifier: BSD-3-Clause

// The library's sends raise no SIGPIPE: connections of package net are written to by package sock
// only.
package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNoSIGPIPE checks that the library writes to sockets by sys.Send only.
func TestNoSIGPIPE(t *testing.T) {
	// Packages that have sockets and are part of the library; armcirun is a program of its own.
	packages := []string{"internal/bootstrap", "internal/bootstrap/jobwire", "internal/rdma",
		"internal/shm", "internal/tcp"}
	write := regexp.MustCompile(
		`\b(c|[a-zA-Z.]*[cC]onn)\.(Write|WriteMsgUnix|WriteTo|ReadFrom)\(|net\.Buffers`)
	seen := 0
	for _, s := range sources(t) {
		if !slices.Contains(packages, path.Dir(s.path)) ||
			!strings.HasSuffix(s.path, ".go") ||
			strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		seen++
		if m := write.Find(s.text); m != nil {
			t.Errorf("%s: %s...) may raise SIGPIPE: use sys.Send", s.path, m)
		}
	}
	if seen == 0 {
		t.Error("no file of the library's was found")
	}
}
