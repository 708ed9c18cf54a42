// SPDX-License-Identifier: BSD-3-Clause

// docs/node.md shows the head of the control block as it is.
package shm

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The document's table has every field of struct shm_head at its offset.
func TestDocumentedHead(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "node.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]int{}
	for _, row := range regexp.MustCompile(
		"(?m)^\\| (\\d+) \\| `(\\w+)` \\|").FindAllStringSubmatch(string(text), -1) {
		shown[row[2]], _ = strconv.Atoi(row[1])
	}
	machine := reflect.TypeFor[Node]()
	field, _ := machine.FieldByName("head")
	head := field.Type.Elem()
	if size := "`struct shm_head` | " + strconv.Itoa(int(head.Size())) +
		" bytes"; !strings.Contains(string(text), size) {
		t.Errorf("the head has %d bytes", head.Size())
	}
	looked := 0
	for i := range head.NumField() {
		f := head.Field(i)
		if strings.HasPrefix(f.Name, "_") || strings.Contains(f.Name, "pad") {
			continue
		}
		looked++
		if at, ok := shown[f.Name]; !ok || at != int(f.Offset) {
			t.Errorf("%s is at %d, the document says %d (%v)", f.Name, f.Offset, at, ok)
		}
	}
	if looked < 17 || len(shown) < looked {
		t.Errorf("%d fields, %d rows", looked, len(shown))
	}
}
