# The short way in: build, run a first program, check, install. CMake does the work; this file only
# finds Go, installs what is missing where it is asked to, and must not hold a rule of its own about
# how anything is built.
# SPDX-License-Identifier: BSD-3-Clause

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE   ?= cmake
CTEST   ?= ctest
CTEST_ARGS ?=
GO      ?= $(firstword $(shell PATH="$$PATH:/usr/local/go/bin:/usr/lib/go/bin" command -v go))
MAKEFLAGS += --no-print-directory
TIER     = BUILD="$(BUILD)" JOBS="$(JOBS)" CTEST="$(CTEST)" sh tests/tier.sh

# Left alone when not given: CMake keeps what a build directory was configured with.
OPTIONS  = $(if $(BUILD_TYPE),-DCMAKE_BUILD_TYPE=$(BUILD_TYPE)) \
	$(if $(WERROR),-DARMCI_WERROR=$(WERROR)) \
	$(if $(CFLAGS),-DCMAKE_C_FLAGS="$(CFLAGS)") \
	$(if $(CXXFLAGS),-DCMAKE_CXX_FLAGS="$(CXXFLAGS)") \
	$(if $(FFLAGS),-DCMAKE_Fortran_FLAGS="$(FFLAGS)") \
	$(if $(LDFLAGS),-DCMAKE_SHARED_LINKER_FLAGS="$(LDFLAGS)")

.PHONY: all configure tests run quick check check-all bench-gate install dist clean
.NOTPARALLEL: # the goals; what is inside one of them runs in parallel

all: configure
	@$(CMAKE) --build $(BUILD) --parallel $(JOBS)

configure:
	@command -v $(CMAKE) >/dev/null || { \
		echo "make: cmake is missing;" \
			"'make run' as root installs it (apt-get install cmake)" >&2; \
		exit 1; }
	@test -n "$(GO)" || { \
		echo "make: go is missing; install Go 1.26 or later," \
			"or say make GO=/path/to/go" >&2; \
		exit 1; }
	@mkdir -p $(BUILD)
	@$(CMAKE) -S . -B $(BUILD) -DARMCI_GO="$(GO)" -DCMAKE_INSTALL_PREFIX="$(PREFIX)" \
		$(OPTIONS) >$(BUILD)/configure.log 2>&1 \
		|| { cat $(BUILD)/configure.log; exit 1; }

# Notifications, puts with one, and rows, beside raw requests of the device in software: an error
# where one is slower than in the last line of bench/figures.jsonl, in three series of three.
bench-gate: tests
	@bench/native.sh $(BUILD)/bench/bench $(BUILD)/gate -only notify,strided -nodes 2 \
		-mpi none -reps 5 -gate bench/figures.jsonl $(GATE_ARGS)

# A first program: a distributed matrix product on four processes, without any MPI.
run:
	@echo "1/4 packages that the build needs"
	@.ci/install-missing build
	@echo "2/4 the library and its commands" \
		"(the first time some minutes: each 'go build' takes one or more)"
	@$(MAKE) --no-print-directory all
	@echo "3/4 examples"
	@$(CMAKE) --build $(BUILD) --target armci_examples --parallel $(JOBS)
	@echo "4/4 $(BUILD)/bin/armcirun -n 4 $(BUILD)/examples/none/c/matmul"
	@$(BUILD)/bin/armcirun -n 4 $(BUILD)/examples/none/c/matmul
	@echo
	@echo "now run:   $(BUILD)/bin/armcicc examples/c/hello.c -o hello &&" \
		"$(BUILD)/bin/armcirun -n 4 ./hello"
	@echo "           $(BUILD)/bin/armci_info     # this machine," \
		"and what the library uses of it"
	@echo "then read: docs/tutorial.md, or install with make install PREFIX=/usr/local"

# Unit tests of the packages that differ from git's merge base with the main branch, C programs on
# two ranks.
quick: configure
	@$(CMAKE) --build $(BUILD) --target armci_quick --parallel $(JOBS)
	@GO="$(GO)" CMAKE="$(CMAKE)" sh tests/changed.sh
	@$(TIER) quick $(CTEST_ARGS)

tests:
	@.ci/install-missing check
	@$(MAKE) --no-print-directory all
	@$(CMAKE) --build $(BUILD) --target armci_tests --parallel $(JOBS)

# Everything once.
check: tests
	@TIER_MORE="$(filter check-all,$(MAKECMDGOALS))" $(TIER) check $(CTEST_ARGS)

# What check does, unless that is a goal, too (then with -k), and what it leaves out, even if a test
# of check fails.
CHECKED  = $(filter check,$(MAKECMDGOALS))
check-all: tests
	@status=0; \
	$(if $(CHECKED),,TIER_MORE=1 $(TIER) check $(CTEST_ARGS) || status=1;) \
	$(TIER) full $(CTEST_ARGS) || status=1; exit $$status

install: all
	@DESTDIR="$(DESTDIR)" $(CMAKE) --install $(BUILD) --prefix "$(PREFIX)" \
		>$(BUILD)/install.log || { cat $(BUILD)/install.log; exit 1; }
	@sh cmake/installed.sh "$(BUILD)" "$(PREFIX)" "$(DESTDIR)"

# The release tarball, from a git checkout: with the Go modules, so that it is built without a
# network.
dist:
	@GO="$(GO)" sh packaging/dist.sh "$(BUILD)"

clean:
	@rm -rf $(BUILD)
