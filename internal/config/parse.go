// SPDX-License-Identifier: BSD-3-Clause

// Parsing of values: text in, number or error out. Nothing here knows the
// environment or the table.

package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value is a parsed setting: num holds booleans (0, 1), integers, bytes,
// nanoseconds and addresses; text holds strings and choices.
type value struct {
	num  int64
	text string
	auto bool // "auto" of a row with Auto
}

// allowed says in words what a row accepts; it ends the message about a bad value.
func (r *Row) allowed() string {
	text := r.form()
	if r.Auto != nil {
		text = "auto, or " + text
	}
	if bounds := r.bounds(); bounds != "" {
		text += "; " + bounds
	}
	return text
}

// bounds says in words what Least and Most are, "" without them.
func (r *Row) bounds() string {
	switch {
	case r.Least != "" && r.Most != "":
		return r.Least + " to " + r.Most
	case r.Least != "":
		return "at least " + r.Least
	case r.Most != "":
		return "at most " + r.Most
	}
	return ""
}

// within tells whether a number is between the bounds of the row.
func (r *Row) within(num int64) bool {
	free := Row{Name: r.Name, Kind: r.Kind}
	least, _ := free.parse(r.Least)
	most, _ := free.parse(r.Most)
	return num >= least.num && (r.Most == "" || num <= most.num)
}

// form says in words how values of the row's kind are written.
func (r *Row) form() string {
	switch r.Kind {
	case KindBool:
		return "y or n (also yes no, 1 0, true false, on off)"
	case KindInt:
		return "a whole number, not negative"
	case KindSize:
		return "a size in bytes such as 4096, 64k, 1m, 2g or 16t"
	case KindDuration:
		return "a time such as 5ms, 2s or 1m30s"
	case KindChoice:
		return "one of " + strings.Join(r.Choices, ", ")
	case KindAddress:
		return "a hexadecimal address such as 0x400000000000"
	}
	return "any text"
}

// parse converts the text of a setting. An empty text of a kind that needs a
// value gives zero: only rows without default get here with it.
func (r *Row) parse(text string) (value, error) {
	v := value{text: text}
	if text == "" || r.Kind == KindString || r.Kind == KindAny {
		return v, nil
	}
	if r.Auto != nil && strings.EqualFold(text, "auto") {
		return value{text: "auto", auto: true}, nil
	}
	ok := false
	switch r.Kind {
	case KindBool:
		v.num, ok = parseBool(text)
	case KindInt:
		v.num, ok = parseInt(text)
	case KindSize:
		v.num, ok = parseSize(text)
	case KindDuration:
		d, err := time.ParseDuration(text)
		v.num, ok = int64(d), err == nil && d >= 0
	case KindChoice:
		v.text = strings.ToLower(text)
		ok = slices.Contains(r.Choices, v.text)
	case KindAddress:
		v.num, ok = parseAddress(text)
	}
	if !ok || (r.Least != "" || r.Most != "") && !r.within(v.num) {
		return value{}, fmt.Errorf("%s=%q: must be %s", r.Name, text, r.allowed())
	}
	return v, nil
}

func parseBool(text string) (int64, bool) {
	switch strings.ToLower(text) {
	case "y", "yes", "1", "true", "on":
		return 1, true
	case "n", "no", "0", "false", "off":
		return 0, true
	}
	return 0, false
}

func parseInt(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n), err == nil
}

// parseSize parses a number of bytes with an optional suffix k, m, g or t.
func parseSize(text string) (int64, bool) {
	shift := uint(0)
	if at := strings.IndexByte("kmgt", text[len(text)-1]|0x20); at >= 0 {
		shift = uint(10 * (at + 1))
		text = text[:len(text)-1]
	}
	n, ok := parseInt(text)
	if !ok || n > math.MaxInt64>>shift {
		return 0, false
	}
	return n << shift, true
}

func parseAddress(text string) (int64, bool) {
	digits, found := strings.CutPrefix(strings.ToLower(text), "0x")
	if !found {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 63)
	return int64(n), err == nil
}
