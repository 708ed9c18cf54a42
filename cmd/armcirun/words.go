// SPDX-License-Identifier: BSD-3-Clause

// The words of the command line before the program: numbers written as mpiexec takes them (-n2),
// and what is said of words that are no option here.

package main

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
)

var joined = regexp.MustCompile(`^--?(n|np|ppn)([0-9]+)$`)

// separated puts a space before the number of -n2, -np2 and -ppn2; words of the program stay.
func separated(flags *flag.FlagSet, args []string) (words []string) {
	for len(args) > 0 {
		word := args[0]
		if m := joined.FindStringSubmatch(word); m != nil {
			words, args = append(words, "-"+m[1], m[2]), args[1:]
			continue
		}
		n := 1
		switch name := strings.TrimLeft(word, "-"); {
		case word == "--" || !strings.HasPrefix(word, "-"):
			return append(words, args...)
		case takesValue(flags, name):
			n = min(2, len(args))
		}
		words, args = append(words, args[:n]...), args[n:]
	}
	return words
}

// takesValue tells whether the next word is the value of this option.
func takesValue(flags *flag.FlagSet, name string) bool {
	f := flags.Lookup(name)
	if f == nil {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

// ofOthers are options of other launchers, and what is said here instead.
var ofOthers = map[string]string{
	"host": "-hosts", "H": "-hosts", "machinefile": "-hostfile", "machine": "-hostfile",
	"f": "-hostfile",
	"c": "-n", "env": "-x NAME=VALUE", "genv": "-x NAME=VALUE", "bind-to": "-bind",
	"map-by":     "-map",
	"tag-output": "-label", "l": "-label", "prepend-rank": "-label", "N": "-ppn",
	"npernode":       "-ppn",
	"tasks-per-node": "-ppn", "verbose": "-v", "V": "-version", "oversubscribe": "",
	"allow-run-as-root": "",
}

// reworded is an error of package flag in the words of this command.
func reworded(err error) error {
	const unknown = "flag provided but not defined: -"
	text := err.Error()
	name, ok := strings.CutPrefix(text, unknown)
	if !ok {
		text = strings.ReplaceAll(text, "flag needs an argument",
			"a value is missing behind")
		text = strings.ReplaceAll(text, "for flag", "for")
		return fmt.Errorf("%s", strings.ReplaceAll(text, ": parse error",
			": must be a whole number"))
	}
	meant, ok := ofOthers[strings.TrimLeft(name, "-")]
	switch {
	case !ok:
		return fmt.Errorf("unknown option -%s", name)
	case meant == "":
		return fmt.Errorf("unknown option -%s: leave it out, it is not needed here", name)
	}
	return fmt.Errorf("unknown option -%s; did you mean %s?", name, meant)
}
