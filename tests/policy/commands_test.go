// SPDX-License-Identifier: BSD-3-Clause

// Commands in the documents, those by which figures were measured among them, can still be given:
// our commands have the options and groups that are named, and scripts are where they are said to
// be. Whether they do what is said is not judged here.

package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// command is one of ours: its options, those with a value among them, and the words that may follow
// (nil: anything).
type command struct {
	options, valued map[string]bool
	words           map[string]bool
}

var (
	// optionLine is how a usage text begins what it says of an option.
	optionLine = regexp.MustCompile(`(?m)^  -(\w+)( [A-Z][^ ]*)?  ?`)
	groupRow   = regexp.MustCompile(`(?m)^\t\{"([a-z-]+)", `)
	script     = regexp.MustCompile(
		`(?:^|[\s"(])((?:bench|tests|packaging|examples)/[\w./-]+\.(?:sh|py))`)
	label  = regexp.MustCompile(`ctest -L ([a-z0-9]+)`)
	inline = regexp.MustCompile("`([^`\n]+)`")
)

// commands reads the usage texts in the sources.
func commands(t *testing.T) map[string]*command {
	groups := map[string]bool{}
	for _, file := range []string{"cmd/armci_perf/main.go", "bench/worker/groups.c"} {
		for _, m := range groupRow.FindAllStringSubmatch(read(t, file), -1) {
			groups[m[1]] = true
		}
	}
	all := map[string]*command{}
	for name, files := range map[string]string{"armci_perf": "cmd/armci_perf/main.go",
		"armcirun":     "cmd/armcirun/main.go",
		"armci_info":   "cmd/armci_info/main.go",
		"armci_accept": "cmd/armci_accept/main.go",
		"bench":        "bench/main.go bench/windows.go bench/caf.go bench/waits.go"} {
		c := &command{options: map[string]bool{"h": true, "list": true, "np": true},
			valued: map[string]bool{"np": true}}
		for _, file := range strings.Fields(files) {
			for _, m := range optionLine.FindAllStringSubmatch(read(t, file), -1) {
				c.options[m[1]] = true
				c.valued[m[1]] = c.valued[m[1]] || m[2] != ""
			}
		}
		if len(c.options) < 7 {
			t.Fatalf("%s: only options %v", files, c.options)
		}
		all[name] = c
	}
	all["armci_perf"].words = groups
	if len(groups) < 16 {
		t.Fatalf("only groups %v", groups)
	}
	all["bench"].valued["only"] = true
	for _, part := range []string{"correctness", "speed", "growth", "application"} {
		groups[part] = true // of armci_accept -only
	}
	return all
}

// wrong says what is wrong with the words behind a command's name; "" if nothing.
func (c *command) wrong(words []string, groups map[string]bool) string {
	plain := len(words) == 0 || words[0] != "windows" && words[0] != "caf"
	for i := 0; i < len(words); i++ {
		w := words[i]
		option, isOption := strings.CutPrefix(w, "-")
		switch {
		case strings.ContainsAny(w, "|>;&#…"):
			return ""
		case isOption && !c.options[option]:
			return "has no option -" + option
		case isOption && c.valued[option]:
			i++
			if option == "only" && plain && i < len(words) {
				for _, g := range strings.Split(words[i], ",") {
					if !groups[g] {
						return "has no group " + g
					}
				}
			}
		case isOption:
		case c.words == nil:
			if plain {
				return "" // another program and its words
			}
		case !c.words[w] && w == strings.ToLower(w):
			return "has no group " + w
		}
	}
	return ""
}

// TestCommandsInDocuments checks scripts, labels and options of all commands in documents.
func TestCommandsInDocuments(t *testing.T) {
	all := commands(t)
	labels := cmakeTexts(t)
	found := 0
	for _, document := range documents(t) {
		for _, line := range commandLines(read(t, document)) {
			for _, m := range script.FindAllStringSubmatch(line, -1) {
				if _, err := os.Stat(filepath.Join("..", "..", m[1])); err != nil {
					t.Errorf("%s: %s: no such script", document, m[1])
				}
			}
			for _, m := range label.FindAllStringSubmatch(line, -1) {
				if !regexp.MustCompile(`LABELS? "?([a-z0-9]+;)*` + m[1] +
					`\b|foreach\(room.*\b` + m[1] + `\b`).MatchString(labels) {
					t.Errorf("%s: ctest -L %s: no such label", document, m[1])
				}
			}
			words := strings.Fields(line)
			for i, w := range words {
				name := filepath.Base(w)
				if c := all[name]; c != nil && (i == 0 || words[i-1] != "man" &&
					!strings.HasSuffix(words[i-1], ".sh")) {
					found++
					if problem := c.wrong(words[i+1:],
						all["armci_perf"].words); problem != "" {
						t.Errorf("%s: %q: %s %s", document, line, name,
							problem)
					}
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d commands found", found)
	}
}

// TestLabels: CONTRIBUTING.md lists what `ctest -L` selects.
func TestLabels(t *testing.T) {
	list := " " + strings.Join(strings.Fields(group(t, "CONTRIBUTING.md",
		"(?s)those with one label \\(`([^`]*)`\\)")), " ") + " "
	for _, m := range regexp.MustCompile(`\bLABEL ([a-z]\w+)`).FindAllStringSubmatch(
		cmakeTexts(t), -1) {
		if !strings.Contains(list, " "+m[1]+" ") {
			t.Errorf("CONTRIBUTING.md does not list the label %s", m[1])
		}
	}
}

// cmakeTexts are the files that add tests.
func cmakeTexts(t *testing.T) (all string) {
	for _, pattern := range []string{"../../tests/*.cmake", "../../tests/*/*.cmake"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all += string(text)
		}
	}
	return all
}

// commandLines are the lines of blocks of code, and what is between backquotes, without comments.
func commandLines(text string) (lines []string) {
	inBlock := false
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			inBlock = !inBlock
		case inBlock, strings.HasPrefix(line, "    "):
			line, _, _ = strings.Cut(line, " #")
			lines = append(lines, line)
		default:
			for _, m := range inline.FindAllStringSubmatch(line, -1) {
				lines = append(lines, m[1])
			}
		}
	}
	return lines
}

// TestWrongCommands shows which options and groups of a command line are reported as unknown.
func TestWrongCommands(t *testing.T) {
	all := commands(t)
	groups := all["armci_perf"].words
	for text, want := range map[string]string{
		"armci_perf -nodes 2 small bandwidth": "",
		"armci_perf -node 2":                  "has no option -node",
		"armci_perf smal":                     "has no group smal",
		"bench -only small,strided -reps 3":   "", "bench -only smal": "has no group smal",
		"bench windows -only skew -runs 5":                  "",
		"bench -waits -rows node-2 -beside ../before/build": "",
		"bench -waits -row x":                               "has no option -row",
		"armcirun -n 4 ./app -x":                            "",
		"armcirun -lable ./app":                             "has no option -lable",
	} {
		words := strings.Fields(text)
		if got := all[words[0]].wrong(words[1:], groups); got != want {
			t.Errorf("%q: %q, wanted %q", text, got, want)
		}
	}
}
