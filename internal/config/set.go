// SPDX-License-Identifier: BSD-3-Clause

// The settings of one run: the table's rows with the values found in the
// environment. A Set never changes after it was loaded, so it may be read from
// any goroutine.

package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Origins of a value, as Rows reports them.
const (
	FromDefault = "default"
	FromEnv     = "env"
)

// Set is the settings of one run.
type Set struct {
	env     map[string]string // every variable of the environment; empty ones are left out
	values  map[string]value  // by name, for all rows but foreign ones
	network string            // of For; "" is none
}

// Load reads the settings from the environment of the process as it was when
// Go started. The error names every variable with a bad value, and what it may be.
func Load() (*Set, error) {
	return LoadFrom(os.Environ())
}

// LoadFrom reads the settings from entries of the form NAME=value; of equal
// names the last counts, and an empty value is the same as none. Beside an error
// there is a set in which bad values are replaced by defaults, good enough for
// telling the other ranks.
func LoadFrom(environ []string) (*Set, error) {
	s := &Set{env: environMap(environ), values: make(map[string]value)}
	var bad []string
	for _, row := range slices.Concat(table, former) {
		text, set := s.env[row.Name]
		if !set {
			text = row.Default
		}
		v, err := row.parse(text)
		if err != nil {
			bad = append(bad, err.Error())
			v, _ = row.parse(row.Default)
		}
		s.values[row.Name] = v
	}
	if bad != nil {
		return s, errors.New(strings.Join(bad, "; "))
	}
	return s, nil
}

// environMap converts an environment. The last of equal names counts; an empty value removes a
// name.
func environMap(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if text == "" {
			delete(env, name)
			continue
		}
		env[name] = text
	}
	return env
}

// get returns the value of a row. A name that is not in the table, or has
// another kind, is a mistake in the program, not in the environment.
func (s *Set) get(name string, kinds ...Kind) value {
	row := lookup(name)
	if row == nil {
		panic("config: no setting is called " + name)
	}
	for _, kind := range kinds {
		if row.Kind == kind {
			return s.resolved(row)
		}
	}
	panic(fmt.Sprintf("config: %s is read as another kind than its row says", name))
}

// Bool returns a setting of kind bool.
func (s *Set) Bool(name string) bool { return s.get(name, KindBool).num != 0 }

// BoolOrText returns a string setting as a boolean where it is written like one, else its text and
// true.
func (s *Set) BoolOrText(name string) (on bool, text string) {
	text = s.String(name)
	if n, ok := parseBool(text); ok {
		return n != 0, ""
	}
	return text != "", text
}

// Int returns a setting of kind int.
func (s *Set) Int(name string) int { return int(s.get(name, KindInt).num) }

// Size returns a setting of kind size, in bytes.
func (s *Set) Size(name string) int64 { return s.get(name, KindSize).num }

// Duration returns a setting of kind duration.
func (s *Set) Duration(name string) time.Duration {
	return time.Duration(s.get(name, KindDuration).num)
}

// String returns a setting of kind string or choice; choices are in lower case.
func (s *Set) String(name string) string { return s.get(name, KindString, KindChoice).text }

// Address returns a setting of kind address.
func (s *Set) Address(name string) uintptr { return uintptr(s.get(name, KindAddress).num) }

// IsSet tells whether the environment gives a setting a value.
func (s *Set) IsSet(name string) bool {
	if lookup(name) == nil {
		panic("config: no setting is called " + name)
	}
	_, set := s.env[name]
	return set
}
