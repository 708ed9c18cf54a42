// SPDX-License-Identifier: BSD-3-Clause

// Every page has an example, or is listed here with the reason why it needs none. tests/reference
// compiles and runs them.
package main

import (
	"slices"
	"strings"
	"testing"
)

// needless are the pages without an example, by the reason.
var needless = map[string]string{
	"one call without an argument that could be wrong": "ARMCI_Initialized ARMCI_Cleanup " +
		"ARMCI_Uses_shm ARMCI_Uses_shm_grp " +
		"ARMCIX_Progress armci_timer armci_msg_barrier armci_msg_abort",
	"nothing happens: kept for programs that call it": "ARMCI_Set_shm_limit " +
		"armci_set_spare_procs " +
		"ARMCI_Get_ft_group ARMCI_Get_world_group",
	"another name of a call that has one": "armci_stride_info_size",
	"memmove":                             "ARMCI_Copy",
	"a call that has an example, with a group, scope or main's arguments besides": "" +
		"ARMCI_Init_args ARMCI_Init_thread_comm armci_irecover " +
		"ARMCI_Malloc_group_memdev armci_msg_group_bcast_scope armci_msg_group_gop_scope " +
		"armci_grp_clus_brdcst armci_exchange_address_grp",
}

// TestExampleOrReason shows that each page has an example, or is listed as needing none.
func TestExampleOrReason(t *testing.T) {
	b := loaded(t)
	excused := map[string]bool{}
	for _, list := range needless {
		for _, name := range strings.Fields(list) {
			excused[name] = true
			if p := b.byName[name]; p == nil || p.pageName() != name {
				t.Errorf("%s needs no example, but has no page either", name)
			}
		}
	}
	for _, p := range b.pages {
		switch {
		case p.example == "" && !excused[p.pageName()]:
			t.Errorf("%s has no example: add it to one of docs/reference/examples, "+
				"or to the list here with a reason", p.pageName())
		case p.example != "" && excused[p.pageName()]:
			t.Errorf("%s has an example and is listed as needing none", p.pageName())
		}
	}
}

// TestExamplesCall: a program that is shown on a page calls one of the functions of the page.
func TestExamplesCall(t *testing.T) {
	for _, p := range loaded(t).pages {
		if p.example == "" || p.pageName() == "armci_gpc_handler_t" ||
			p.pageName() == "dassertp_fail" {
			// a type; called by macros
			continue
		}
		called := identifier.FindAllString(p.example, -1)
		calls := func(f function) bool { return slices.Contains(called, f.name) }
		if !slices.ContainsFunc(p.functions, calls) {
			t.Errorf("%s: its example calls no function of the page", p.pageName())
		}
	}
}

// TestWrongExamples shows that an example must name its pages, and a page has only one.
func TestWrongExamples(t *testing.T) {
	b := loaded(t)
	const (
		head = "// SPDX-License-Identifier: BSD-3-Clause\n"
		the  = "// The example on the "
	)
	for text, want := range map[string]string{
		"":                           "does not say on which pages",
		the + "page of ARMCI_Get.\n": "not called like the first page",
		the + "pages of ARMCI_Copy and ARMCI_Pot.\n":  "no page is called ARMCI_Pot",
		the + "pages of ARMCI_Copy and ARMCI_GetS.\n": "no page is called ARMCI_GetS",
		the + "pages of ARMCI_Copy and ARMCI_Put.\n":  "two examples",
	} {
		b.byName["ARMCI_Copy"].example = ""
		if err := b.show(head+text+"int main;\n", "ARMCI_Copy"); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, wanted %q", text, err, want)
		}
	}
}
