// SPDX-License-Identifier: BSD-3-Clause

// Former names of settings. Each network had its own ARMCI_TCP_TIMEOUT,
// ARMCI_RDMA_TIMEOUT and so on before there was one ARMCI_TIMEOUT; these names
// still work, for their network alone, and the user is told the new one.

package config

import "strings"

// formerly returns the former names, by network, of the setting ARMCI_<what>.
func formerly(what string) map[string]string {
	return map[string]string{"tcp": "ARMCI_TCP_" + what, "rdma": "ARMCI_RDMA_" + what}
}

var former = formerRows()

// formerRows are the rows of former names, which set the present ones for one network.
func formerRows() []Row {
	var rows []Row
	for _, network := range []string{"tcp", "rdma"} {
		for _, row := range table {
			if name := row.Former[network]; name != "" {
				rows = append(rows, Row{Name: name, Kind: row.Kind,
					Class: ClassFormer, Default: row.Default, Auto: row.Auto,
					Least: row.Least, Most: row.Most,
					Doc: "former name of " + row.Name + ", for " +
						strings.ToUpper(network) + " only"})
			}
		}
	}
	return rows
}

// FormerName is a former name that the environment uses.
type FormerName struct {
	Name, New string
	Ignored   bool // because New is set too
}

// String is the warning.
func (f FormerName) String() string {
	if f.Ignored {
		return f.Name + " is a former name of " + f.New + ", which is set too and counts"
	}
	return f.Name + " is a former name: set " + f.New + " instead"
}

// Former returns the former names that the environment uses, in the order of the table.
func (s *Set) Former() []FormerName {
	var used []FormerName
	for i := range table {
		for _, network := range []string{"tcp", "rdma"} {
			name := table[i].Former[network]
			if _, set := s.env[name]; name != "" && set {
				used = append(used,
					FormerName{name, table[i].Name, s.IsSet(table[i].Name)})
			}
		}
	}
	return used
}

// For returns the settings as they are for one network, "tcp" or "rdma": with
// what "auto" means there, and with former names of its settings.
func (s *Set) For(network string) *Set {
	one := *s
	one.network = network
	return &one
}

// resolved returns the value of a row, for the network if For has named one.
func (s *Set) resolved(row *Row) value {
	name := row.Name
	if old := row.Former[s.network]; old != "" && !s.IsSet(name) && s.IsSet(old) {
		name = old
	}
	v := s.values[name]
	if row.Auto == nil || !v.auto {
		return v
	}
	text := row.Auto[s.network]
	if text == "" {
		panic("config: " + row.Name + " depends on the network: read it by For")
	}
	v, _ = row.parse(text)
	return v
}
