// SPDX-License-Identifier: BSD-3-Clause

// Tests of counters that others read, of how they are printed, and of merging traces, also of ranks
// that were killed.
package profile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRunning reads the counters of this process as another one would.
func TestRunning(t *testing.T) {
	c, err := Create(3, 4, 1, 2, "here")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Table[1][2] = Cell{Calls: 5, Bytes: 700, Nanos: 10, InC: 4}
	c.By()[1] = Cell{Calls: 5, Bytes: 700}
	all := Running(os.Getpid())
	if len(all) != 1 || all[0].Counters == nil {
		t.Fatalf("got %+v", all)
	}
	got := all[0].Counters
	table, by := got.Snapshot()
	if got.Rank != 3 || got.Nodes != 2 || table[1][2] != c.Table[1][2] || len(by) != 2 ||
		by[1].Bytes != 700 || table.All().Calls != 5 {
		t.Errorf("rank %d of %d nodes: %v, %v", got.Rank, got.Nodes, table.All(), by)
	}
}

func TestNoProcess(t *testing.T) {
	if all := Running(1 << 30); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
}

// TestWrite looks for the figures of a summary in its tables.
func TestWrite(t *testing.T) {
	s := Summary{Title: "title", Size: 2, Elapsed: 24000, Ranks: []Rank{{Calls: 3}, {Calls: 4}},
		Nodes: [][]Cell{{{}, {Bytes: 2048}}, {{}, {}}}}
	s.Table[0][1] = Cell{Calls: 2, Bytes: 128, Nanos: 3000, InC: 1}
	s.Spread = []Extremes{{Least: 1, Most: 5, LeastRank: 7, MostRank: 8, Sum: 6}}
	s.Counts = []Count{{"hits", 9}}
	var out bytes.Buffer
	s.Write(&out)
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"title",
		"operation size calls bytes time of run mean fast path",
		"put up to 64 B 2 128 B 3.00 us 12.5 % 1.50 us 50.0 %",
		"all 2 128 B 3.00 us 12.5 % 1.50 us 50.0 %",
		"node 0 0 B 2.0 KiB", "calls 1 (7) 3 5 (8)", "hits: 9"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestMerge merges two parts of a trace, one of them cut off, and notes a missing one.
func TestMerge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t")
	write := func(rank int, text string) {
		if err := os.WriteFile(Part(file, rank), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(0, "[\n{\"pid\":0}\n]\n")
	if missing, err := Merge(file, 2); missing != 1 || err != nil {
		t.Fatalf("%d missing, %v", missing, err)
	}
	write(1, "[\n{\"pid\":1},\n{\"pid\":1,\"cut\":\"   \x00\x00")
	if parts, err := Parts(file); len(parts) != 2 || err != nil {
		t.Fatalf("%v, %v", parts, err)
	}
	if missing, err := Merge(file, 2); missing != 0 || err != nil {
		t.Fatalf("%d missing, %v", missing, err)
	}
	text, err := os.ReadFile(file)
	var events []map[string]any
	if err != nil || json.Unmarshal(text, &events) != nil || len(events) != 2 ||
		events[1]["pid"] != 1.0 {
		t.Errorf("%v, %s", err, text)
	}
	if _, err := Parts(file); err == nil {
		t.Error("the parts are still there")
	}
}

// Links, FIFOs and directories in the place of a file of a trace: an error, at once.
func TestStrangeFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("victim"), []byte("precious"), 0o666),
		os.Symlink(at("victim"), at("link")),
		os.Symlink(at("nothing"), at("dangling")),
		os.WriteFile(at("linked"), []byte("precious"), 0o666),
		os.Link(at("linked"), at("hard")), syscall.Mkfifo(at("fifo"), 0o666),
		os.Mkdir(at("dir"), 0o777),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("part"), []byte("{\"pid\":0}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"link": "symbolic link",
		"dangling": "symbolic link", "hard": "hard link",
		"fifo": "not a regular file", "dir": "directory", "none/x": "no such file",
		"/dev/null": "not a regular file"} {
		path := at(name)
		if filepath.IsAbs(name) {
			path = name
		}
		_, err := CreateFile(path)
		for how, err := range map[string]error{"create": err, "check": CheckFile(path),
			"merge": MergeFiles(path, []string{at("part")})} {
			missing := name == "none/x" && how == "check"
			if !missing && (err == nil || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), path)) {
				t.Errorf("%s %s: %v", how, name, err)
			}
		}
		if name != "hard" && MergeFiles(at("out"), []string{path}) == nil {
			t.Errorf("%s is read", name)
		}
	}
	for _, name := range []string{"victim", "linked"} {
		if text, err := os.ReadFile(at(name)); string(text) != "precious" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestCreateFile creates a file, empties one that is there, and refuses another user's.
func TestCreateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t")
	for range 2 { // a new one, and one that is there
		fd, err := CreateFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(fd), path)
		if st, err := f.Stat(); err != nil || st.Size() != 0 || CheckFile(path) != nil {
			t.Errorf("%v, %v, %v", st, err, CheckFile(path))
		}
		f.WriteString("text")
		f.Close()
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 1, 1); err != nil {
			t.Fatal(err)
		}
		if err := CheckFile(path); err == nil ||
			!strings.Contains(err.Error(), "another user") {
			t.Errorf("of another user: %v", err)
		}
	}
}
