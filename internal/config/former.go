// SPDX-License-Identifier: BSD-3-Clause

// Former names of settings. Each network had its own ARMCI_TCP_TIMEOUT,
// ARMCI_RDMA_TIMEOUT and so on before there was one ARMCI_TIMEOUT, and what
// libfabric obeys as well was called ARMCI_RDMA_*. These names still work, for
// their networks alone, and the user is told the new one.

package config

import (
	"slices"
	"strings"
)

// networks are those that For takes, with their names in documents.
var networks = []struct{ name, title string }{
	{"tcp", "TCP"}, {"rdma", "RDMA"}, {"ofi", "libfabric"},
}

// formerly returns the former names, by network, of the setting ARMCI_<what>.
func formerly(what string) map[string]string {
	return map[string]string{"tcp": "ARMCI_TCP_" + what, "rdma": "ARMCI_RDMA_" + what}
}

// formerlyRDMA returns the former name of a setting that RDMA and libfabric obey alike.
func formerlyRDMA(name string) map[string]string {
	return map[string]string{"rdma": name, "ofi": name}
}

var former = formerRows()

// formerNames returns the former names of a row, in the order of the networks.
func (r *Row) formerNames() []string {
	var names []string
	for _, network := range networks {
		name := r.Former[network.name]
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// formerRows are the rows of former names, which set the present ones for some networks.
func formerRows() []Row {
	var rows []Row
	for i := range table {
		row := &table[i]
		for _, name := range row.formerNames() {
			var titles []string
			for _, network := range networks {
				if row.Former[network.name] == name {
					titles = append(titles, network.title)
				}
			}
			rows = append(rows, Row{Name: name, Kind: row.Kind, Class: ClassFormer,
				Default: row.Default, Auto: row.Auto, Choices: row.Choices,
				Least: row.Least, Most: row.Most,
				Doc: "former name of " + row.Name + ", for " +
					strings.Join(titles, " and ") + " only"})
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
		for _, name := range table[i].formerNames() {
			if _, set := s.env[name]; set {
				used = append(used,
					FormerName{name, table[i].Name, s.IsSet(table[i].Name)})
			}
		}
	}
	return used
}

// For returns the settings as they are for one network, "tcp", "rdma" or "ofi": with
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
