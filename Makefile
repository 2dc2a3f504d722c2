# SPDX-License-Identifier: GPL-2.0-only
# resched: `make help` lists the targets. Everything is built under $(BUILD).

VERSION := 0.1.0
SOVERSION := 0

BUILD   ?= build
prefix  ?= /usr/local
PREFIX  ?= $(prefix)
LIBDIR  ?= $(PREFIX)/lib
MANDIR  ?= $(PREFIX)/share/man
COMPDIR ?= $(PREFIX)/share/bash-completion/completions
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
DOCDIR  ?= $(PREFIX)/share/doc/resched
DESTDIR ?=

ifeq ($(origin CC),default)
CC      := gcc
endif
CFLAGS  ?= -O2 -g
LDFLAGS ?=
INSTALL ?= install
PKG_CONFIG ?= pkg-config
NPROC   := $(shell nproc 2>/dev/null || echo 1)

# Switches: V=1 shows commands; DEVELOPER=1 adds warnings and -Werror; SAN=address,undefined or SAN=thread instruments.
V         ?=
DEVELOPER ?=
SAN       ?=

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

Q   := $(if $(filter 1,$(V)),,@)
say  = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')
comma := ,

# ---- required libraries, each with its Debian package

PKGS := libtraceevent libtracefs json-c libzstd zlib liblzma
DEB_libtraceevent := libtraceevent-dev
DEB_libtracefs    := libtracefs-dev
DEB_json-c        := libjson-c-dev
DEB_libzstd       := libzstd-dev
DEB_zlib          := zlib1g-dev
DEB_liblzma       := liblzma-dev

# The bpf backend of record: left out where one of its tools is missing, or with BPF=no. `resched record` then says so.
CLANG   ?= clang
BPFTOOL ?= $(firstword $(shell command -v bpftool 2>/dev/null) $(wildcard /usr/sbin/bpftool /sbin/bpftool))
BPF     ?= $(if $(and $(shell command -v $(CLANG) 2>/dev/null),$(BPFTOOL),$(shell $(PKG_CONFIG) --exists libbpf 2>/dev/null && echo yes)),yes,no)
PKGS    += $(if $(filter yes,$(BPF)),libbpf)
DEB_libbpf := libbpf-dev

# Machines in hwloc's XML: left out where the library is missing, or with HWLOC=no. `resched topology` then says so.
HWLOC   ?= $(if $(shell $(PKG_CONFIG) --exists hwloc 2>/dev/null && echo yes),yes,no)
PKGS    += $(if $(filter yes,$(HWLOC)),hwloc)
DEB_hwloc := libhwloc-dev

# the programs alone
TUI_PKGS := ncursesw
DEB_ncursesw := libncurses-dev
DAEMON_PKGS := inih libsystemd libseccomp json-c
DEB_inih       := libinih-dev
DEB_libsystemd := libsystemd-dev
DEB_libseccomp := libseccomp-dev
PROGRAM_PKGS := $(TUI_PKGS) $(DAEMON_PKGS)

MISSING    := $(strip $(foreach p,$(sort $(PKGS) $(PROGRAM_PKGS)),$(if $(shell $(PKG_CONFIG) --exists $(p) 2>/dev/null && echo yes),,$(p))))
PKG_CFLAGS := $(if $(MISSING),,$(shell $(PKG_CONFIG) --cflags $(PKGS)))
PKG_LIBS   := $(if $(MISSING),,$(shell $(PKG_CONFIG) --libs $(PKGS)))
TUI_LIBS   := $(if $(MISSING),,-Wl,--as-needed $(shell $(PKG_CONFIG) --libs $(TUI_PKGS)))
DAEMON_LIBS := $(if $(MISSING),,-Wl,--as-needed $(shell $(PKG_CONFIG) --libs $(DAEMON_PKGS)))

# ---- flags: CFLAGS and LDFLAGS stay the user's

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla
ifneq ($(DEVELOPER),)
WARN += -Werror -Wformat=2 -Wno-format-nonliteral -Wundef -Wold-style-definition -Wimplicit-fallthrough -Wredundant-decls
endif
WARN_EXACT := -Wconversion -Wsign-conversion	# src/base and src/policies: integer widths are part of the model

SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CPPFLAGS_ALL := -D_GNU_SOURCE -DRESCHED_VERSION='"$(VERSION)"' -Iinclude -Isrc $(PKG_CFLAGS) $(CPPFLAGS)
CFLAGS_ALL = -std=gnu11 $(CPPFLAGS_ALL) $(WARN) $(WARN_ROOM) -fPIC -fno-semantic-interposition $(SAN_FLAGS) $(CFLAGS)
LDFLAGS_ALL := $(SAN_FLAGS) $(CFLAGS) $(LDFLAGS)
LIBS_ALL = -Wl,--as-needed $(PKG_LIBS) -lm -lpthread $(LIBS)

# ---- what there is: a new file in a room needs no line here

LIB_ROOMS  := base trace capture policies replay analysis report
LIB_SRC    := $(sort $(foreach r,$(LIB_ROOMS),$(wildcard src/$(r)/*.c)))
CLI_SRC    := $(sort $(wildcard src/cli/*.c))
DAEMON_SRC := $(sort $(wildcard src/daemon/*.c))
TUI_SRC    := $(sort $(wildcard src/tui/*.c))
LOAD_SRC   := $(sort $(wildcard tests/load/*.c))
TEST_SRC   := $(sort $(foreach k,unit vectors property,$(wildcard tests/$(k)/test_*.c)))
TESTLIB_SRC := $(sort $(wildcard tests/lib/*.c))
ALL_SRC    := $(LIB_SRC) $(TUI_SRC) $(CLI_SRC) $(DAEMON_SRC) $(LOAD_SRC) $(TESTLIB_SRC) $(TEST_SRC)
HEADERS    := $(sort $(wildcard include/resched/*.h))
MAN        := $(sort $(wildcard man/*.[1-8]))

objs = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
LIB_OBJ := $(call objs,$(LIB_SRC))
ALL_OBJ := $(call objs,$(ALL_SRC))
TESTS   := $(patsubst %.c,$(BUILD)/%,$(TEST_SRC))

PROGRAMS := $(if $(CLI_SRC),$(BUILD)/resched) $(if $(DAEMON_SRC),$(BUILD)/reschedd)
LOAD     := $(if $(LOAD_SRC),$(BUILD)/wakeload)

# ---- build

all: $(BUILD)/libresched.a $(BUILD)/libresched.so $(PROGRAMS) $(LOAD) ## build the library, the programs and the bundled load

$(BUILD)/obj/src/base/%.o $(BUILD)/obj/src/policies/%.o: WARN_ROOM = $(WARN_EXACT)
$(BUILD)/obj/tests/%.o: WARN_ROOM = -Itests

ifeq ($(HWLOC),yes)
$(BUILD)/obj/src/capture/host_hwloc.o: WARN_ROOM = -DRESCHED_HAVE_HWLOC
endif

# The BPF programs: one object for the kernel, and the header that carries it into the library.
ifeq ($(BPF),yes)
BPF_SRC  := src/capture/bpf/resched.bpf.c
BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(shell uname -m)))
BPF_FLAGS := -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -O2 -g -Wall -Wextra -Isrc/capture/bpf \
	$(addprefix -I,$(wildcard /usr/include/$(shell uname -m)-linux-gnu))

$(BUILD)/gen/capture/resched.bpf.o: $(BPF_SRC) $(wildcard src/capture/bpf/*.h)
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_FLAGS) -c -o $@.tmp $< && $(BPFTOOL) gen object $@ $@.tmp && rm $@.tmp
$(BUILD)/gen/capture/resched.skel.h: $(BUILD)/gen/capture/resched.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name resched_bpf >$@
$(BUILD)/obj/src/capture/bpf_load.o: $(BUILD)/gen/capture/resched.skel.h
$(BUILD)/obj/src/capture/bpf_load.o: WARN_ROOM = -DRESCHED_HAVE_BPF -isystem $(BUILD)/gen
endif

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BUILD)/libresched.a: $(LIB_OBJ) $(BUILD)/sources
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJ)

# The views and the daemon are no part of the library: a program's, and in archives so that tests can have them.
DAEMON_PARTS := $(filter-out src/daemon/main.c,$(DAEMON_SRC))
$(BUILD)/tui.a: $(call objs,$(TUI_SRC)) $(BUILD)/sources
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(call objs,$(TUI_SRC))
$(BUILD)/daemon.a: $(call objs,$(DAEMON_PARTS)) $(BUILD)/sources
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(call objs,$(DAEMON_PARTS))

$(BUILD)/libresched.so: $(LIB_OBJ) packaging/libresched.map $(BUILD)/sources
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libresched.so.$(SOVERSION) -Wl,--version-script=packaging/libresched.map \
		$(LDFLAGS_ALL) -o $@ $(LIB_OBJ) $(LIBS_ALL)

define program # name, objects, further libraries
$(1): $(2) $(BUILD)/sources
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(LDFLAGS_ALL) -o $$@ $(2) $(3) $$(LIBS_ALL)
endef
$(eval $(call program,$(BUILD)/resched,$(call objs,$(CLI_SRC)) $(BUILD)/tui.a $(BUILD)/libresched.a,$(TUI_LIBS)))
$(eval $(call program,$(BUILD)/reschedd,$(call objs,src/daemon/main.c) $(BUILD)/daemon.a $(BUILD)/libresched.a,$(DAEMON_LIBS)))
$(eval $(call program,$(BUILD)/wakeload,$(call objs,$(LOAD_SRC))))
$(foreach t,$(TEST_SRC),$(eval $(call program,$(t:%.c=$(BUILD)/%),$(call objs,$(t) $(TESTLIB_SRC)) $(BUILD)/tui.a $(BUILD)/daemon.a $(BUILD)/libresched.a,-lcmocka $(TUI_LIBS) $(DAEMON_LIBS))))

tests: all $(TESTS) ## build the test programs too

# Two stamps, rewritten only when their content changes: other flags rebuild everything, other files relink.
$(BUILD)/flags: FORCE
	$(if $(MISSING),$(if $(shell command -v $(PKG_CONFIG)),,$(error $(PKG_CONFIG) not found: install the Debian package pkg-config (or run `make deps`))))
	$(foreach p,$(MISSING),$(info required library $(p) not found: install the Debian package $(DEB_$(p))))
	$(if $(MISSING),$(error a required library is missing: $(MISSING) (`make deps` installs what is needed)))
	$(shell mkdir -p $(@D))$(file >$@.new,$(CC) $(CFLAGS_ALL) | $(LDFLAGS_ALL) | $(LIBS_ALL))
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/sources: FORCE
	$(shell mkdir -p $(@D))$(file >$@.new,$(ALL_SRC))
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

-include $(wildcard $(ALL_OBJ:.o=.d))

# ---- checks

# A sub-make of its own so that libraries installed by deps.sh are seen; parallel unless the user chose a number.
jobs = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(NPROC))

deps: ## install what building and checking need (Debian, Ubuntu), or print the packages
	@scripts/deps.sh check

check: ## set up, build everything, run every test; the last line counts them
	@scripts/deps.sh check
	@$(MAKE) $(jobs) --no-print-directory check-build || { echo; echo '0 passed, 1 failed, 0 skipped'; exit 1; }
	@BUILD=$(BUILD) VERSION=$(VERSION) SAN=$(SAN) tests/run.sh

# What the runner runs: the tests as they are, the same instrumented, and the tree with warnings as errors by both compilers.
check-build: tests
ifeq ($(SAN),)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/san SAN=address,undefined CFLAGS='-O1 -g' san-tests
	@for cc in gcc clang; do \
		$(MAKE) --no-print-directory -k BUILD=$(BUILD)/werror-$$cc CC=$$cc DEVELOPER=1 CFLAGS=-O2 tests \
			>$(BUILD)/werror-$$cc.log 2>&1; echo $$? >$(BUILD)/werror-$$cc.rc; done
endif

san-tests: $(TESTS)

check-layers: ## who includes whom, and functions we do not use
	@scripts/check-layers.sh
check-headers: ## every header compiles alone, public ones as C++ too
	@CC='$(CC)' CPPFLAGS='$(subst ','\'',$(CPPFLAGS_ALL))' scripts/check-headers.sh
check-symbols: all ## exports resched_* only, no writable global data
	@BUILD=$(BUILD) scripts/check-symbols.sh
check-docs: all ## man pages, completion and README against the programs' own option tables
	@BUILD=$(BUILD) scripts/check-docs.sh

golden-update: all ## rewrite the expected outputs and screens; read the diff
	@BUILD=$(BUILD) tests/golden/run.sh --update
	@RESCHED=$(BUILD)/resched bash tests/e2e/tui_screens.sh --update
	@BUILD=$(BUILD) scripts/screens.py

CHECKED_SRC := $(LIB_SRC) $(TUI_SRC) $(CLI_SRC) $(DAEMON_SRC) $(LOAD_SRC)

lint: format-check tidy cppcheck ## clang-format, clang-tidy and cppcheck: all clean

tidy:
	@scripts/deps.sh lint
	$(call say,TIDY,src tests/load)
	$(Q)printf '%s\n' $(CHECKED_SRC) | xargs -P $(NPROC) -n 4 sh -c \
		'clang-tidy --quiet "$$@" -- -std=gnu11 $(subst ','\'',$(CPPFLAGS_ALL)) 2>/dev/null' clang-tidy

cppcheck:
	@scripts/deps.sh lint
	$(call say,CPPCHK,src tests/load)
	$(Q)cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		-j $(NPROC) --suppress=missingIncludeSystem --suppress=memleak --suppress=uninitvar -D_GNU_SOURCE -DRESCHED_VERSION='"$(VERSION)"' -Iinclude -Isrc $(CHECKED_SRC)

# Headers are laid out by hand, as tables.
format: ## rewrite the .c files in the house style
	@scripts/format.py $(ALL_SRC)
format-check:
	@scripts/deps.sh lint
	$(call say,FORMAT,src tests)
	$(Q)scripts/format.py --check $(ALL_SRC)

compile_commands.json: ## for editors and clang tools, at the top of the tree
	@python3 -c 'import json, sys; dir, command, *files = sys.argv[1:]; json.dump([{"directory": dir, "file": f, \
		"command": command + " -Itests -c " + f} for f in files], sys.stdout, indent=1)' \
		'$(CURDIR)' '$(subst ','\'',$(CC) $(CFLAGS_ALL))' $(ALL_SRC) >$@

# ---- fuzzing: every reader in memory, and the daemon's protocol, with the sanitizers; SECONDS for each target

FUZZ_TARGETS := $(filter-out main trace,$(notdir $(basename $(wildcard tests/fuzz/*.c))))
SECONDS_EACH := $(if $(SECONDS),$(SECONDS),60)

fuzz: ## run the fuzz targets, SECONDS=60 each; findings land in $(BUILD)/fuzz
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz/lib CC=clang SAN=address,undefined CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' fuzz-link FUZZ_DIR=$(BUILD)/fuzz
	@BUILD=$(BUILD) bash tests/fuzz/run.sh $(SECONDS_EACH)

fuzz-afl: ## the same with AFL++ (Debian package afl++)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz/afl-lib CC=afl-clang-fast SAN=address,undefined CFLAGS='-O1 -g' fuzz-link FUZZ_DIR=$(BUILD)/fuzz/afl
	@BUILD=$(BUILD) bash tests/fuzz/run.sh $(SECONDS_EACH) afl

fuzz-link: $(BUILD)/libresched.a $(BUILD)/daemon.a
	@mkdir -p $(FUZZ_DIR)
	$(Q)for t in $(FUZZ_TARGETS); do \
		$(CC) $(CFLAGS_ALL) -fsanitize=fuzzer -Itests/fuzz -o $(FUZZ_DIR)/$$t tests/fuzz/$$t.c tests/fuzz/trace.c $(BUILD)/daemon.a $< $(LIBS_ALL) $(DAEMON_LIBS) || exit 1; done

# ---- showing it

demo: ## install what is missing, build, record two seconds, replay them under every policy, compare
	@scripts/deps.sh build
	@$(MAKE) $(jobs) --no-print-directory all
	@BUILD=$(BUILD) scripts/demo.sh

lab: ## record loads in guests under real kernels and hold replays against them; minutes a guest
	@scripts/deps.sh check
	@$(MAKE) $(jobs) --no-print-directory all
	@BUILD=$(BUILD) RESCHED=$(BUILD)/resched tests/lab/guests.py --fetch

bench: ## speed and memory beside perf and trace-cmd; prints, asserts nothing
	@scripts/deps.sh bench
	@$(MAKE) $(jobs) --no-print-directory all
	@BUILD=$(BUILD) tests/bench/bench.py
	@BUILD=$(BUILD) tests/bench/readers.py
	@$(MAKE) --no-print-directory bench-queue

bench-queue: $(BUILD)/libresched.a ## what a decision costs by the length of the queue; prints, asserts nothing
	$(Q)$(CC) $(CFLAGS_ALL) -o $(BUILD)/bench-queue tests/bench/queue.c $< $(LIBS_ALL)
	$(Q)$(BUILD)/bench-queue

bench-scale: all ## what a replay costs by the size of the machine, and where the time goes; prints, asserts nothing
	$(Q)$(CC) $(CFLAGS_ALL) -o $(BUILD)/bench-phases tests/bench/phases.c $(BUILD)/libresched.a $(LIBS_ALL)
	@BUILD=$(BUILD) RESCHED=$(BUILD)/resched tests/bench/scale.py

bench-tui: all ## the views over 10 million events: first screen, keys while they are read, memory; prints, asserts nothing
	@BUILD=$(BUILD) tests/bench/tui.py

bench-capture: all ## what recording costs, beside perf sched record; prints, asserts nothing
	@scripts/deps.sh bench
	@BUILD=$(BUILD) tests/bench/capture.py

soak: all ## ten minutes (SECONDS=3600: an hour) of the daemon under full load with clients that come, ask and die; prints figures
	@scripts/deps.sh check
	@BUILD=$(BUILD) tests/bench/soak.py $(if $(SECONDS),$(SECONDS),600)

# ---- install

SOFILE := libresched.so.$(VERSION)
MANPAGES := $(foreach m,$(notdir $(MAN)),man$(subst .,,$(suffix $(m)))/$(m))

install: all ## into $(DESTDIR)$(PREFIX)
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include/resched \
		$(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man8 $(DESTDIR)$(COMPDIR)
	$(INSTALL) -m 755 $(BUILD)/resched $(DESTDIR)$(PREFIX)/bin/
	$(if $(DAEMON_SRC),$(INSTALL) -m 755 $(BUILD)/reschedd $(DESTDIR)$(PREFIX)/sbin/)
	$(INSTALL) -m 644 $(BUILD)/libresched.a $(DESTDIR)$(LIBDIR)/
	$(INSTALL) -m 755 $(BUILD)/libresched.so $(DESTDIR)$(LIBDIR)/$(SOFILE)
	ln -sf $(SOFILE) $(DESTDIR)$(LIBDIR)/libresched.so.$(SOVERSION)
	ln -sf $(SOFILE) $(DESTDIR)$(LIBDIR)/libresched.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@PKGS@|$(PKGS)|' \
		packaging/resched.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/resched.pc
	$(INSTALL) -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include/resched/
	$(foreach m,$(MANPAGES),$(INSTALL) -m 644 man/$(notdir $(m)) $(DESTDIR)$(MANDIR)/$(m) &&) :
	$(INSTALL) -m 644 completions/resched.bash $(DESTDIR)$(COMPDIR)/resched
	$(INSTALL) -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSUSERSDIR) $(DESTDIR)$(DOCDIR)
	sed 's|@PREFIX@|$(PREFIX)|' packaging/reschedd.service.in >$(DESTDIR)$(UNITDIR)/reschedd.service
	$(INSTALL) -m 644 packaging/reschedd.socket $(DESTDIR)$(UNITDIR)/
	$(INSTALL) -m 644 packaging/resched.sysusers $(DESTDIR)$(SYSUSERSDIR)/resched.conf
	$(INSTALL) -m 644 packaging/reschedd.conf $(DESTDIR)$(DOCDIR)/

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/resched $(DESTDIR)$(PREFIX)/sbin/reschedd
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libresched.a libresched.so libresched.so.$(SOVERSION) $(SOFILE) pkgconfig/resched.pc)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/include/resched/,$(notdir $(HEADERS)))
	rm -f $(addprefix $(DESTDIR)$(UNITDIR)/,reschedd.service reschedd.socket) $(DESTDIR)$(SYSUSERSDIR)/resched.conf $(DESTDIR)$(DOCDIR)/reschedd.conf
	-rmdir $(DESTDIR)$(PREFIX)/include/resched $(DESTDIR)$(DOCDIR)
	rm -f $(addprefix $(DESTDIR)$(MANDIR)/,$(MANPAGES)) $(DESTDIR)$(COMPDIR)/resched

clean: ## remove what was built
	rm -rf $(BUILD) compile_commands.json

help: ## this list
	@awk -F':.*## ' '/^[a-z_.-]+:.*## / { printf "  %-22s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo '  variables: BUILD=dir PREFIX=dir DESTDIR=dir CC=gcc|clang CFLAGS= LDFLAGS= V=1 DEVELOPER=1 SAN=address,undefined|thread'

FORCE:
.PHONY: lab fuzz fuzz-afl fuzz-link all tests deps check check-build san-tests check-layers check-headers check-symbols check-docs golden-update lint tidy cppcheck \
	format format-check compile_commands.json demo bench bench-queue bench-scale bench-tui bench-capture soak install uninstall clean help FORCE
