// SPDX-License-Identifier: BSD-3-Clause

// Removes names from the texts of a report: of hosts, which become node 0, node 1 and so on, of the
// user, and of directories. It works on the values of the report before they are written, so that
// no writer can forget it.

package main

import (
	"os"
	"os/user"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// names is what is removed, and what stands in its place, in this order.
type names struct {
	replacements []replacement
}

// replacement is one of them.
type replacement struct {
	pattern *regexp.Regexp
	by      string
}

// directory is one that tells of its user, and what stands in its place.
type directory struct{ path, by string }

// address is one of IP. What follows ".so." is the version of a library.
var address = regexp.MustCompile(`(?:\.so\.)?\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|` +
	`\b(?:[0-9a-fA-F]{1,4}:){2,7}:?(?:[0-9a-fA-F]{1,4}:?)*[0-9a-fA-F]{0,4}\b|` +
	`\b[0-9a-fA-F]{1,4}::[0-9a-fA-F:]+|::ffff:[0-9a-fA-F.:]+`)

// hostOptions precede names of hosts and the like in the words of launchers.
var hostOptions = regexp.MustCompile(`^(--?hosts?|-H|--?hostfile|--?machinefile|-w|--nodelist|` +
	`-x|--exclude|-A|--account|-p|--partition|--qos|--reservation|-J|--job-name)(=.*)?$`)

// attachedName is such an option with its name in the same word. -p is not among them, since -ppn
// and others begin so.
var attachedName = regexp.MustCompile(`^(-[HwAJ])[^-=]`)

// notAttached are other options that look so: of Open MPI, the working directory.
var notAttached = []string{"-wd", "-wdir"}

// variable is one of the environment, which Open MPI's -x takes; Slurm's takes hosts.
var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*(=.*)?$`)

// newNames knows this host, its user, and the directories that tell of them.
func newNames() *names {
	n := &names{}
	n.add(address, "ADDRESS")
	var some []directory
	if self, err := os.Executable(); err == nil {
		some = append(some, directory{filepath.Dir(filepath.Dir(self)), "PREFIX"})
		if real, err := filepath.EvalSymlinks(self); err == nil {
			some = append(some, directory{filepath.Dir(filepath.Dir(real)), "PREFIX"})
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		some = append(some, directory{home, "HOME"})
	}
	if dir, err := os.Getwd(); err == nil {
		some = append(some, directory{dir, "HERE"})
	}
	n.directories(append(some, directory{filepath.Clean(os.TempDir()), "TMP"}))
	if u, err := user.Current(); err == nil {
		n.word(u.Username, "USER")
	}
	if host, err := os.Hostname(); err == nil {
		n.host(host, -1)
	}
	return n
}

func (n *names) add(pattern *regexp.Regexp, by string) {
	n.replacements = append(n.replacements, replacement{pattern, by})
}

// directories removes paths, unless they say nothing: the longest first, since one may lie in
// another, and its last part is a name, too.
func (n *names) directories(some []directory) {
	slices.SortStableFunc(some, func(a, b directory) int { return len(b.path) - len(a.path) })
	for _, d := range some {
		if len(d.path) > 1 {
			n.add(regexp.MustCompile(regexp.QuoteMeta(d.path)+`(/|\b)`), d.by)
		}
	}
}

// word removes a name where it is a word.
func (n *names) word(name, by string) {
	if name != "" {
		n.add(regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(name)+`\b`), by)
	}
}

// host removes a host's name, with and without its domain; -1: the host of this command.
func (n *names) host(name string, number int) {
	by := "HOST"
	if number >= 0 {
		by = "node " + strconv.Itoa(number)
	}
	short, _, _ := strings.Cut(name, ".")
	some := &names{}
	some.word(name, by)
	some.word(short, by)
	// before this host's own: a node that is this host has its number
	n.replacements = append(some.replacements, n.replacements...)
}

// text removes the names from a text.
func (n *names) text(s string) string {
	for _, r := range n.replacements {
		s = r.pattern.ReplaceAllStringFunc(s, func(found string) string {
			switch {
			case strings.HasPrefix(found, ".so."):
				return found
			case strings.HasSuffix(found, "/"):
				return r.by + "/"
			}
			return r.by
		})
	}
	return s
}

// words removes names from a command, also those that only its options tell to be names of hosts.
func (n *names) words(command []string) string {
	words := slices.Clone(command)
	for i, w := range command {
		m, attached := hostOptions.FindStringSubmatch(w), attachedName.FindStringSubmatch(w)
		switch {
		case m != nil && m[2] != "":
			words[i] = m[1] + "=NAMES"
		case m != nil && i+1 < len(words):
			if w != "-x" || !variable.MatchString(words[i+1]) {
				words[i+1] = "NAMES"
			}
		case attached != nil && !slices.Contains(notAttached, w):
			words[i] = attached[1] + "NAMES"
		}
	}
	return n.text(strings.Join(quoted(words), " "))
}

// clean removes the names from all texts in a value: a pointer or a slice.
func (n *names) clean(v any) { n.walk(reflect.ValueOf(v)) }

// walk is clean; strings that cannot be set are not for the report.
func (n *names) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n.walk(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			n.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n.walk(v.Field(i))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(n.text(v.String()))
		}
	}
}
