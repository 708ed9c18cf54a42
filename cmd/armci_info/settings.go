// SPDX-License-Identifier: BSD-3-Clause

// The settings, as comments and as lines that a shell takes.

package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"libarmci/internal/config"
)

// commentColumns is how long lines of comments are.
const commentColumns = 100

// showSettings prints all settings as lines for a shell, and explains each in a comment.
func showSettings(out io.Writer, cfg *config.Set) {
	fmt.Fprintf(out, "# Settings\n")
	for _, e := range cfg.Rows(config.ClassUser) {
		showSetting(out, e)
	}
	fmt.Fprintf(out, "\n# For tests and measurements\n")
	for _, e := range cfg.Rows(config.ClassExpert) {
		showSetting(out, e)
	}
	for _, f := range cfg.Former() {
		fmt.Fprintf(out, "# %s\n", f)
	}
	for _, e := range cfg.Rows(config.ClassJob) {
		if e.Origin == config.FromEnv {
			fmt.Fprintf(out, "# %s=%s: set by armcirun: %s\n", e.Name, e.Value, e.Doc)
		}
	}
	for _, e := range cfg.Rows(config.ClassForeign) {
		if e.Origin == config.FromEnv {
			fmt.Fprintf(out, "# %s=%s: %s\n", e.Name, e.Value, e.Doc)
		}
	}
	for _, u := range cfg.Unknown() {
		hint := ""
		if u.Nearest != "" {
			hint = "; did you mean " + u.Nearest + "?"
		}
		fmt.Fprintf(out, "# %s is no setting of this library%s\n", u.Name, hint)
	}
}

// showSetting prints one setting as a line for a shell. Comments above it say what it does, when to
// set it, its kind and origin.
func showSetting(out io.Writer, e config.Entry) {
	line := "#"
	for _, word := range strings.Fields(e.Doc + " Set it if " + e.When + ".") {
		if len(line)+1+len(word) > commentColumns {
			fmt.Fprintln(out, line)
			line = "#"
		}
		line += " " + word
	}
	fmt.Fprintf(out, "%s\n# [%s; %s]\n%s=%s\n", line, kind(e), origin(e), e.Name,
		quoted(e.Value))
}

// origin says where the value of a setting comes from.
func origin(e config.Entry) string {
	switch {
	case e.Origin == config.FromEnv && e.Default != "":
		return "from the environment, default " + e.Default
	case e.Origin == config.FromEnv:
		return "from the environment, unset by default"
	case e.Default == "":
		return "default: unset"
	}
	return "default"
}

var kinds = map[config.Kind]string{config.KindBool: "y or n", config.KindInt: "number",
	config.KindSize:     "size",
	config.KindDuration: "time", config.KindString: "text", config.KindAddress: "address"}

func kind(e config.Entry) string {
	text := kinds[e.Kind]
	if e.Kind == config.KindChoice {
		text = strings.Join(e.Choices, ", ")
	}
	if e.Unit != "" {
		text += ", " + e.Unit
	}
	return text
}

var plain = regexp.MustCompile(`^[\w@%+=:,./-]*$`)

// quoted is a value as a shell reads it.
func quoted(value string) string {
	if plain.MatchString(value) {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
