// SPDX-License-Identifier: BSD-3-Clause

// Tests of simulated copies: what is changed, what is left, and what is refused.
package rewrite

import (
	"strings"
	"testing"
)

// TestFile shows the copies of some files.
func TestFile(t *testing.T) {
	const own = `"libarmci/internal/testutil/simulate"`
	const begin = "package p; import simulate " + own
	for _, c := range []struct{ name, text, want string }{
		{"imports", "package p\n\nimport (\n\t\"fmt\"\n\t\"sync/atomic\"\n)\n",
			"package p\n\nimport (\n\t\"fmt\"\n\tatomic " + own + "\n)\n"},
		{"go", "package p\n\nfunc f() { go x.run() }\n", begin +
			"\n\nfunc f() { simulate.Go(\"run\", func() { x.run() }) }\n"},
		{"channels", "package p\n\nfunc f() {\n\tc <- 1\n\tx := <-c\n\tclose(c)\n}\n",
			begin + "\n\nfunc f() {\n\tsimulate.Send(c , 1)\n" +
				"\tx := simulate.Recv(c)\n\tsimulate.Close(c)\n}\n"},
		{"a method close", "package p\n\nfunc f() { c.close() }\n",
			"package p\n\nfunc f() { c.close() }\n"},
		{"arguments", "package p\n\nfunc f() { go g(1) }\n", "error: go statement"},
		{"select", "package p\n\nfunc f() { select {} }\n", "error: select"},
		{"named import", "package p\n\nimport s \"sync\"\n", "error: import"},
	} {
		got, err := File("a.go", []byte(c.text))
		if word, refused := strings.CutPrefix(c.want, "error: "); refused {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\ninstead of\n%s", c.name, err, got, c.want)
		}
	}
}
