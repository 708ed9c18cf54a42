// SPDX-License-Identifier: BSD-3-Clause

// Tests of parsing, defaults, origins and the search for misspelt names.

package config

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func load(t *testing.T, environ ...string) *Set {
	t.Helper()
	s, err := LoadFrom(environ)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDefaults shows the defaults of settings of all kinds.
func TestDefaults(t *testing.T) {
	s := load(t)
	if s.Bool("ARMCI_VERBOSE") || !s.Bool("ARMCI_FASTPATH") {
		t.Error("booleans have the wrong defaults")
	}
	if got := s.Size("ARMCI_SHM_ARENA"); got != 16<<40 {
		t.Errorf("ARMCI_SHM_ARENA = %d", got)
	}
	if got := s.Address("ARMCI_SHM_BASE"); got != 0x400000000000 {
		t.Errorf("ARMCI_SHM_BASE = %#x", got)
	}
	if got := s.String("ARMCI_ERRORS"); got != "auto" {
		t.Errorf("ARMCI_ERRORS = %q", got)
	}
	if s.String("ARMCI_NODE") != "" || s.IsSet("ARMCI_NODE") {
		t.Error("ARMCI_NODE is set")
	}
}

// TestEveryDefaultParses shows that names are unique, and that all defaults can be parsed.
func TestEveryDefaultParses(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range load(t).Rows() {
		if seen[e.Name] {
			t.Errorf("%s has two rows", e.Name)
		}
		seen[e.Name] = true
		if _, err := e.parse(e.Default); err != nil {
			t.Error(err)
		}
		for network, text := range e.Auto {
			if v, err := e.parse(text); err != nil || v.auto {
				t.Errorf("%s, auto over %s: %q, %v", e.Name, network, text, err)
			}
		}
		if e.Doc == "" || strings.Contains(e.Doc, "\n") {
			t.Errorf("%s: the doc must be one line", e.Name)
		}
	}
}

// TestValuesFromEnvironment shows how entries of the environment become values.
func TestValuesFromEnvironment(t *testing.T) {
	s := load(t, "ARMCI_SPIN=1", "ARMCI_SPIN=7", "ARMCI_NODE=a=b", "ARMCI_ERRORS=ABORT",
		"ARMCI_VERBOSE=", "odd")
	if got := s.Int("ARMCI_SPIN"); got != 7 {
		t.Errorf("of two equal names the last must count, got %d", got)
	}
	if got := s.String("ARMCI_NODE"); got != "a=b" {
		t.Errorf("ARMCI_NODE = %q", got)
	}
	if got := s.String("ARMCI_ERRORS"); got != "abort" {
		t.Errorf("ARMCI_ERRORS = %q", got)
	}
	if s.Bool("ARMCI_VERBOSE") || s.IsSet("ARMCI_VERBOSE") {
		t.Error("an empty value must count as none")
	}
}

// TestParse shows the valid and invalid texts of all kinds.
func TestParse(t *testing.T) {
	const bad = math.MinInt64
	for _, c := range []struct {
		kind Kind
		text string
		want int64
	}{
		{KindBool, "y", 1}, {KindBool, "YES", 1}, {KindBool, "1", 1}, {KindBool, "True", 1},
		{KindBool, "on", 1},
		{KindBool, "n", 0}, {KindBool, "no", 0}, {KindBool, "0", 0}, {KindBool, "false", 0},
		{KindBool, "OFF", 0},
		{KindBool, "2", bad}, {KindBool, "ja", bad}, {KindBool, " y", bad},
		{KindInt, "0", 0}, {KindInt, "42", 42}, {KindInt, "-1", bad}, {KindInt, "1e3", bad},
		{KindInt, "+1", bad},
		{KindInt, "9223372036854775808", bad},
		{KindSize, "4096", 4096}, {KindSize, "64k", 64 << 10}, {KindSize, "1m", 1 << 20},
		{KindSize, "2G", 2 << 30},
		{KindSize, "16t", 16 << 40}, {KindSize, "8388607t", 8388607 << 40},
		{KindSize, "8388608t", bad},
		{KindSize, "k", bad}, {KindSize, "1.5m", bad}, {KindSize, "64kb", bad},
		{KindSize, "-1k", bad}, {KindSize, "64 k", bad},
		{KindDuration, "5ms", int64(5 * time.Millisecond)},
		{KindDuration, "2s", int64(2 * time.Second)},
		{KindDuration, "1m30s", int64(90 * time.Second)}, {KindDuration, "5", bad},
		{KindDuration, "-1s", bad},
		{KindAddress, "0x1000", 0x1000}, {KindAddress, "0X2aF", 0x2af},
		{KindAddress, "1000", bad},
		{KindAddress, "0x", bad}, {KindAddress, "0x8000000000000000", bad},
	} {
		row := Row{Name: "X", Kind: c.kind}
		v, err := row.parse(c.text)
		switch {
		case (err != nil) != (c.want == bad):
			t.Errorf("kind %d %q: error %v", c.kind, c.text, err)
		case err == nil && v.num != c.want:
			t.Errorf("kind %d %q = %d, want %d", c.kind, c.text, v.num, c.want)
		}
	}
}

// TestBadValuesAreNamed shows that an error names all bad values and what is expected.
func TestBadValuesAreNamed(t *testing.T) {
	_, err := LoadFrom([]string{"ARMCI_SPIN=many", "ARMCI_ERRORS=explode",
		"ARMCI_SHM_LIMIT=whatever"})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{`ARMCI_SPIN="many"`, "whole number", `ARMCI_ERRORS="explode"`,
		"auto, return, abort"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not tell %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "ARMCI_SHM_LIMIT") {
		t.Errorf("%q: one line about our own settings wanted", err)
	}
}

// Numbers out of range are refused, also of former names; bounds themselves are not.
func TestBounds(t *testing.T) {
	for _, row := range slices.Concat(table, former) {
		if row.Least == "" && row.Most == "" {
			continue
		}
		for _, text := range []string{row.Least, row.Most} {
			if _, err := LoadFrom([]string{row.Name + "=" + text}); err != nil {
				t.Errorf("%s=%s: %v", row.Name, text, err)
			}
		}
		beyond := map[bool]string{true: "0", false: "9000000000000000000"}[row.Most == ""]
		if row.Kind == KindDuration {
			beyond = map[bool]string{true: "0s", false: "100h"}[row.Most == ""]
		}
		_, err := LoadFrom([]string{row.Name + "=" + beyond})
		if err == nil || !strings.Contains(err.Error(), beyond) ||
			!strings.HasSuffix(err.Error(), row.bounds()) {
			t.Errorf("%s=%s: %v", row.Name, beyond, err)
		}
	}
	for _, entry := range []string{"ARMCI_EAGER=64g", "ARMCI_TCP_EAGER=65k",
		"ARMCI_TRANSPORT=infiniband", "ARMCI_TCP_SERVERS=4097",
		"ARMCI_TIMEOUT=99ms", "ARMCI_SPIN=4294967297"} {
		if _, err := LoadFrom([]string{entry}); err == nil {
			t.Errorf("%s is accepted", entry)
		}
	}
}

// TestUnknownNames shows which names are reported, with the most similar known one.
func TestUnknownNames(t *testing.T) {
	s := load(t, "ARMCI_FASTPATHS=y", "ARMCI_VERBOS=1", "ARMCI_SHM_MARGN=1",
		"ARMCI_COMPLETELY_DIFFERENT=1",
		"ARMCI_TEST_SEED=5", "ARMCI_SHM_LIMIT=1", "COMEX_FOO=1", "ARMCI_EMPTY=",
		"ARMCI_NODE=x", "ARMCI_JOB_RNK=1")
	want := []UnknownName{
		{"ARMCI_COMPLETELY_DIFFERENT", ""}, {"ARMCI_FASTPATHS", "ARMCI_FASTPATH"},
		{"ARMCI_JOB_RNK", ""},
		{"ARMCI_SHM_MARGN", "ARMCI_SHM_MARGIN"}, {"ARMCI_VERBOS", "ARMCI_VERBOSE"},
	}
	if got := s.Unknown(); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestDistance shows the edit distance of names.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2},
		{"same", "same", 0}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestRowsTellOriginAndHideTheSecret shows the values and origins in Rows.
func TestRowsTellOriginAndHideTheSecret(t *testing.T) {
	s := load(t, "ARMCI_SPIN=9", "ARMCI_JOB_SECRET=abcdef", "COMEX_MAX_NB_OUTSTANDING=3")
	found := map[string]Entry{}
	for _, e := range s.Rows() {
		found[e.Name] = e
	}
	for _, c := range []struct{ name, value, origin string }{
		{"ARMCI_SPIN", "9", FromEnv}, {"ARMCI_SHM_KEEP", "256m", FromDefault},
		{"ARMCI_JOB_SECRET", "(hidden)", FromEnv}, {"COMEX_MAX_NB_OUTSTANDING", "3",
			FromEnv},
	} {
		if e := found[c.name]; e.Value != c.value || e.Origin != c.origin {
			t.Errorf("%s is %q from %s", c.name, e.Value, e.Origin)
		}
	}
	for _, e := range s.Rows(ClassUser) {
		if e.Class != ClassUser {
			t.Errorf("%s is not the user's", e.Name)
		}
	}
}

// TestLauncher shows how launchers are recognised by their variables.
func TestLauncher(t *testing.T) {
	none := Launch{Rank: -1}
	checkLaunches(t, []launched{
		{"", none},
		{"PMI_RANK=3 PMI_SIZE=4", Launch{Name: "mpiexec", By: "PMI_RANK", Rank: 3,
			Size: 4}},
		{"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1",
			Launch{Name: "mpirun", By: "OMPI_COMM_WORLD_RANK", Rank: 1, Size: 2}},
		{"PMI_RANK=3 PMI_SIZE=4 MPI_LOCALNRANKS=2", Launch{Name: "mpiexec", By: "PMI_RANK",
			Rank: 3, Size: 4, Hydra: true}},
		{"PMI_ID=3", none},
		{"ARMCI_JOB_ADDR=@a ARMCI_JOB_RANK=1 ARMCI_JOB_SIZE=2 PMI_RANK=7 MPI_LOCALNRANKS=2",
			Launch{Name: "armcirun", By: "ARMCI_JOB_RANK", Rank: 1, Size: 2}},
		{"MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=2",
			Launch{Name: "mpirun_rsh", By: "MV2_COMM_WORLD_RANK", Rank: 1, Size: 2}},
		{"PMI_RANK=3 PMI_SIZE=4 ARMCI_ALONE=y", none},
		{"PMI_RANK=3 PMI_SIZE=4 ARMCI_ALONE=n", Launch{Name: "mpiexec", By: "PMI_RANK",
			Rank: 3, Size: 4}},
		{"SLURM_PROCID=1 SLURM_NTASKS=4 ARMCI_ALONE=1", none},
		{"ARMCI_JOB_ADDR=@a ARMCI_JOB_RANK=1 ARMCI_JOB_SIZE=2 ARMCI_ALONE=y",
			Launch{Name: "armcirun", By: "ARMCI_JOB_RANK", Rank: 1, Size: 2}},
		{"PMIX_RANK=5", Launch{Name: "prterun", By: "PMIX_RANK", Rank: 5, Size: 0}},
		{"PMIX_RANK=5 SLURM_PROCID=5 SLURM_NTASKS=8", Launch{Name: "srun", By: "PMIX_RANK",
			Rank: 5, Size: 8}},
		{"PMIX_RANK=5 SLURM_PROCID=0 SLURM_NTASKS=8",
			Launch{Name: "prterun", By: "PMIX_RANK", Rank: 5, Size: 0}},
		{"PMI_RANK=x", none},
		{"ARMCI_JOB_RANK=1 ARMCI_JOB_SIZE=2", none},
		{"ARMCI_JOB_ADDR=@a ARMCI_JOB_RANK=1 ARMCI_JOB_SIZE=2 PMI_RANK=7 SLURM_PROCID=0 " +
			"SLURM_NTASKS=4",
			Launch{Name: "armcirun", By: "ARMCI_JOB_RANK", Rank: 1, Size: 2}},
		{"SLURM_PROCID=1 SLURM_NTASKS=4", Launch{Name: "srun", By: "SLURM_PROCID", Rank: 1,
			Size: 4}},
		{"SLURM_PROCID=0 SLURM_NTASKS=4", Launch{Name: "srun", By: "SLURM_PROCID", Rank: 0,
			Size: 4}},
		{"SLURM_PROCID=0 SLURM_NTASKS=4 ENVIRONMENT=BATCH", none}, // the script of sbatch
		{"SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4 ENVIRONMENT=BATCH",
			Launch{Name: "srun", By: "SLURM_PROCID", Rank: 0, Size: 4}},
		// salloc's shell
		{"SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=1",
			Launch{Name: "srun", By: "SLURM_PROCID", Rank: 0, Size: 1}},
	})
}

// TestLauncherPMI is for the interface by which ranks find each other without MPI.
func TestLauncherPMI(t *testing.T) {
	checkLaunches(t, []launched{
		{"PMIX_RANK=0 PMIX_NAMESPACE=x", Launch{Name: "prterun", By: "PMIX_RANK",
			PMI: "pmix", PMIFirst: true}},
		{"PMIX_RANK=0 PMIX_NAMESPACE=x ARMCI_PMI=n",
			Launch{Name: "prterun", By: "PMIX_RANK"}},
		{"PMI_RANK=1 PMI_SIZE=2 PMI_FD=3 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 " +
			"SLURM_STEP_NUM_NODES=1",
			Launch{Name: "srun", By: "PMI_RANK", Rank: 1, Size: 2, OneHost: true,
				PMI: "pmi2", PMIElse: "pmi1", PMIAddress: "3", PMIFirst: true}},
		{"PMI_RANK=1 PMI_SIZE=2 PMI_FD=3 MPI_LOCALNRANKS=1", Launch{Name: "mpiexec",
			By: "PMI_RANK", Rank: 1, Size: 2, Hydra: true, PMI: "pmi1",
			PMIElse: "pmi2", PMIAddress: "3"}},
		{"PMI_RANK=1 PMI_SIZE=2 PMI_FD=3 ARMCI_PMI=pmi2", Launch{Name: "mpiexec",
			By: "PMI_RANK", Rank: 1, Size: 2, PMI: "pmi2", PMIFirst: true}},
		{"PMI_RANK=1 PMI_SIZE=2 PMI_FD=3 ARMCI_PMI=pmi1", Launch{Name: "mpiexec",
			By: "PMI_RANK", Rank: 1, Size: 2, PMI: "pmi1", PMIAddress: "3",
			PMIFirst: true}},
		{"PMI_RANK=1 PMI_SIZE=2 PMI_FD=3 ARMCI_PMI=n", Launch{Name: "mpiexec",
			By: "PMI_RANK", Rank: 1, Size: 2}},
		// the rank of another job's PMI_FD is not known
		{"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMI_RANK=0 PMI_SIZE=1 PMI_FD=3",
			Launch{Name: "mpirun", By: "OMPI_COMM_WORLD_RANK", Rank: 1, Size: 2,
				PMI: "pmi2"}},
		{"PMI_ID=1 PMI_PORT=a:5 MPI_LOCALNRANKS=2", Launch{Name: "mpiexec", By: "PMI_ID",
			Rank: 1, Hydra: true, PMI: "pmi1", PMIAddress: "a:5"}},
		{"PMI_ID=1 PMI_PORT=a:5 ARMCI_PMI=pmi2", Launch{Name: "mpiexec", By: "PMI_ID",
			Rank: 1}},
		{"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1 PMIX_NAMESPACE=x",
			Launch{Name: "mpirun", By: "OMPI_COMM_WORLD_RANK", Rank: 1, Size: 2,
				PMI: "pmix"}},
		{"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1 PMIX_NAMESPACE=x " +
			"ARMCI_PMI=pmix",
			Launch{Name: "mpirun", By: "OMPI_COMM_WORLD_RANK", Rank: 1, Size: 2,
				PMI: "pmix", PMIFirst: true}},
	})
}

// launched is an environment, and what is to be made of it.
type launched struct {
	environ string
	want    Launch
}

func checkLaunches(t *testing.T, cases []launched) {
	t.Helper()
	for _, c := range cases {
		if got := load(t, strings.Fields(c.environ)...).Launcher(); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.environ, got, c.want)
		}
	}
}

// TestWrongUseOfTheTablePanics shows that unknown names and wrong kinds in the code panic.
func TestWrongUseOfTheTablePanics(t *testing.T) {
	s := load(t)
	for what, use := range map[string]func(){
		"unknown name": func() { s.Bool("ARMCI_NO_SUCH") },
		"wrong kind":   func() { s.Bool("ARMCI_SPIN") },
		"foreign row":  func() { s.String("ARMCI_SHM_LIMIT") },
		"IsSet":        func() { s.IsSet("ARMCI_NO_SUCH") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			use()
		}()
	}
}

// TestLoadReadsTheProcess shows that Load and Launcher read the process's environment.
func TestLoadReadsTheProcess(t *testing.T) {
	t.Setenv("ARMCI_SPIN", "77")
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if s.Int("ARMCI_SPIN") != 77 {
		t.Error("the environment was not read")
	}
	if got := Launcher(); got != launcherOf(environMap(os.Environ())) {
		t.Errorf("Launcher() = %+v", got)
	}
}

// FuzzParse shows that no text crashes the parser or becomes a negative number.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"64k", "0x10", "5ms", "y", "t", "99999999999999999999t",
		"\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for kind := KindBool; kind <= KindAny; kind++ {
			row := Row{Name: "X", Kind: kind, Choices: []string{"a"}}
			if v, err := row.parse(text); err == nil && v.num < 0 {
				t.Errorf("kind %d %q = %d: negative", kind, text, v.num)
			}
		}
	})
}
