// SPDX-License-Identifier: BSD-3-Clause

// Tests of what a trace says of a node's name.
package recorder

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestJSONText shows that any name becomes valid JSON of at most 100 bytes.
func TestJSONText(t *testing.T) {
	for name, want := range map[string]string{
		"node1": "node1", "a\"b\\c": "a\"b\\c", "\x00\n\t\x1f": "\x00\n\t\x1f",
		"é\u2028":   "é\u2028",
		"\xff\xfea": "?a", strings.Repeat("x", 150): strings.Repeat("x", 100),
		strings.Repeat("x", 99) + "é": strings.Repeat("x", 99) + "?",
	} {
		var got string
		if err := json.Unmarshal([]byte(`"`+jsonText(name)+`"`), &got); err != nil ||
			got != want {
			t.Errorf("%q: %q, error %v", name, got, err)
		}
	}
}
