# SPDX-License-Identifier: MIT
# make                the program, ./attn
# make check          builds and runs the tests, JOBS of them at a time (one per processor)
# make check-whole    the tests that make check omits or samples, in some minutes
# make release-check  all checks before a release, on one machine, in hours
# make check-quick    the most telling tests
# make check-asan     the same under the address and undefined-behaviour sanitizers
# make check-ports    the suite by gcc, clang, on aarch64 and s390x (emulated), with 32 bits: tests/ports.sh says how
# make fuzz           fuzzes the readers, the command line and the paths with libFuzzer (clang), FUZZ_SECONDS each
# make check-valgrind, check-tsan, check-msan
#                     the relevant tests under valgrind, ThreadSanitizer, MemorySanitizer (clang)
# make analyze        gcc -fanalyzer, clang-tidy and cppcheck over src, with SINCE=COMMIT over the changes since then
# make bench          the benchmarks (PYTHON: an interpreter that has PyTorch; BENCH: parts, such as decode)
# make install        PREFIX and DESTDIR as usual, stripped, with completion for bash, zsh and fish; make uninstall
#                     removes it
# make dist           build/attn-VERSION.tar.gz and its .sha256, the same bytes each time; make distcheck proves it
# make release         all files of a release, in build/release, with checksums: data/packaging/release.sh
# make site            the manual as web pages, in build/site
# make static         build/static/attn, one static program by musl; make check-static tries it (CJSON=PATH: cJSON's source)
# make check-cross    compiles for macOS, FreeBSD and aarch64 with zig's C compiler, and tries what can run here
# make deb            Debian's source package, and build/attn_VERSION-1_ARCHITECTURE.deb, which make check-deb tries
# make format         clang-format over the sources; make lint checks the man pages
#
# V=1 prints the commands. Another build: make BUILD=build/clang CC=clang; make PORTABLE=1 leaves out what only Linux
# has, as on other systems (src/base/system.h), in build/portable

CC ?= cc
CFLAGS ?= -O3 -g
PREFIX ?= /usr/local
BUILD ?= build$(if $(PORTABLE),/portable)
PKG_CONFIG ?= pkg-config

# No built-in rules: make would try each on each file.
MAKEFLAGS += -r
# One job per processor by default; not with `clean`, which removes what other targets make.
ifeq ($(MAKELEVEL)$(filter clean,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN || echo 1)
endif

SANITIZE = -O1 -gline-tables-only -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_SECONDS ?= 60
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wvla
# CJSON=PATH takes cJSON from its source tree in place of the system's package: data/packaging/static.mk.
CJSON_CFLAGS := $(if $(CJSON),-I$(BUILD),$(shell $(PKG_CONFIG) --cflags libcjson))
CJSON_LIBS := $(if $(CJSON),,$(shell $(PKG_CONFIG) --libs libcjson))
# A product of floats must be a float: not the x87's, nor the double that C allows on s390x.
MACHINE := $(shell $(CC) -dumpmachine)
MACHINE_FLAGS := $(if $(filter i386-% i486-% i586-% i686-%,$(MACHINE)),-msse2 -mfpmath=sse) \
	$(if $(filter s390x-%,$(MACHINE)),-fexcess-precision=fast)
STRICT = -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 $(if $(PORTABLE),-DPORTABLE) $(WARNINGS) \
	-ffp-contract=off $(MACHINE_FLAGS)
# make prints a line per file, and with V=1 each command.
say = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@echo '$1 $2';)
COMPILE = $(call say,CC,$<)$(CC) $(STRICT) -MMD -MP -Isrc $(CJSON_CFLAGS) $(CPPFLAGS) $(CFLAGS)
# Tests need a fast compiler more than fast code.
COMPILE_TEST = $(COMPILE) -O1
LIBS = $(CJSON_LIBS) -lm -pthread

# An instruction set is a file kernel/isa_NAME.c, whose first line has the machine (the beginning of MACHINE, or any)
# and the flags, which come after CFLAGS: so it is optimised under the sanitizers too.
KERNEL_FLAGS = -O3 -Wno-psabi
ISA_MACHINES = $(shell sed -n '1s,.*machine: \([^;]*\);.*,\1,p' $1)
ISA_FLAGS = $(shell sed -n '1s,.*flags: \(.*\) \*/,\1,p' $1)
ALL_ISAS := $(wildcard src/kernel/isa_*.c)
ISAS := $(foreach isa,$(ALL_ISAS),$(if $(filter any $(firstword $(subst -, ,$(MACHINE))),$(call ISA_MACHINES,$(isa))),$(isa)))
# Leaves out those whose flags the compiler does not know, and defines WITHOUT_NAME for kernel_choose.c.
LEFT_OUT := $(foreach isa,$(ISAS),$(if $(shell $(CC) $(call ISA_FLAGS,$(isa)) -E -x c /dev/null 2>&1 >/dev/null),$(isa)))
ISAS := $(filter-out $(LEFT_OUT),$(ISAS))
# Files with kernel_body.h are compiled again for doubles.
DOUBLE_ISAS := $(if $(ISAS),$(shell grep -l 'include "kernel/kernel_body.h"' $(ISAS)))
FLOAT_KERNELS := $(ISAS:src/%.c=$(BUILD)/%.o)
DOUBLE_KERNELS := $(DOUBLE_ISAS:src/%.c=$(BUILD)/%_f64.o)
KERNELS := $(FLOAT_KERNELS) $(DOUBLE_KERNELS)

# A room is a folder of src: src/README.md.
ROOMS := $(patsubst src/%/README.md,%,$(wildcard src/*/README.md src/*/*/README.md))
SOURCES := $(filter-out $(ALL_ISAS),$(wildcard src/*.c $(ROOMS:%=src/%/*.c)))
HEADERS := $(wildcard $(ROOMS:%=src/%/*.h))
EXAMPLES := $(patsubst data/%.json,$(BUILD)/cli/example_%.o,$(wildcard data/*.json))
SHELLS := bash zsh fish
SCRIPTS := $(SHELLS:%=$(BUILD)/cli/completion_%.o)
GENERATED := $(EXAMPLES) $(SCRIPTS) $(BUILD)/cli/schema.o $(BUILD)/write/html/page.o $(BUILD)/lesson/table.o $(BUILD)/base/powers.o
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/%.o) $(GENERATED) $(KERNELS) $(if $(CJSON),$(BUILD)/cjson/cJSON.o)
LIBRARY := $(BUILD)/libattn.a
FOLDERS := $(BUILD) $(ROOMS:%=$(BUILD)/%)
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
# WITHOUT names tests not to build, nor to run.
TESTS := $(filter-out $(WITHOUT:%=$(BUILD)/%),$(patsubst tests/test_%.c,$(BUILD)/test_%,$(wildcard tests/test_*.c)))

# Families of cases, in archives: tests/pack.sh.
FAMILIES := $(patsubst %.tar,%,$(wildcard tests/*.tar tests/golden/*.tar tests/fuzz/*.tar))
CASES := $(FAMILIES:%=%/.unpacked)

all: attn

attn: $(BUILD)/attn
	@cp $< $@

$(BUILD)/attn: $(BUILD)/main.o $(LIBRARY)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# All but main, for the program and the tests; removed first, so that it keeps no old object; q allows files of one
# name.
$(LIBRARY): $(filter-out $(BUILD)/main.o,$(OBJECTS))
	$(call say,AR,$@)rm -f $@ && $(AR) qcs $@ $^

$(FLOAT_KERNELS): $(BUILD)/%.o: src/%.c Makefile | $(FOLDERS)
	$(COMPILE) $(KERNEL_FLAGS) $(call ISA_FLAGS,$<) -c -o $@ $<

$(BUILD)/kernel/kernel_choose.o: CPPFLAGS += $(LEFT_OUT:src/kernel/isa_%.c=-DWITHOUT_%)

$(DOUBLE_KERNELS): $(BUILD)/%_f64.o: src/%.c Makefile | $(FOLDERS)
	$(COMPILE) $(KERNEL_FLAGS) $(call ISA_FLAGS,$<) -DDOUBLES -c -o $@ $<

$(BUILD)/%.o: src/%.c Makefile | $(FOLDERS)
	$(COMPILE) -c -o $@ $<

# The C library's header for processors shifts an int by 31.
$(BUILD)/kernel/kernel_choose.o $(BUILD)/stage/projections.o: override CFLAGS += -fno-sanitize=shift

# A file as an array, NAME_bytes, and its NAME_length, which HEADER declares: $(call ARRAY,HEADER,NAME).
ARRAY = $(call say,MAKE,$@){ echo '\#include "$1"'; echo 'const unsigned char $2_bytes[] = {'; \
	od -A n -v -t x1 $< | sed 's/[0-9a-f][0-9a-f]/0x&,/g'; \
	echo '0};'; echo 'const size_t $2_length = sizeof $2_bytes - 1;'; } >$@

# The examples of data/: cli/example.h has a row for each, with "_" for "-" in the array's name.
$(EXAMPLES:.o=.c): $(BUILD)/cli/example_%.c: data/%.json Makefile | $(FOLDERS)
	$(call ARRAY,cli/example.h,example_$(subst -,_,$*))

$(SCRIPTS:.o=.c): $(BUILD)/cli/completion_%.c: data/completion/attn.% Makefile | $(FOLDERS)
	$(call ARRAY,cli/completion.h,completion_$*)

$(BUILD)/cli/schema.c: src/cli/schema.json Makefile | $(FOLDERS)
	$(call ARRAY,cli/help.h,schema)

$(BUILD)/base/powers.c: src/base/decimal_powers.awk src/base/decimal_powers.h | $(FOLDERS)
	$(call say,MAKE,$@)awk -f $^ >$@

# The page of html.c: page.html with style and scripts, without lines of comment and indentation, as an array.
PAGE_SCRIPTS := $(patsubst %,src/write/html/page/%.js,job random numbers model words edits formulas steps equations mistakes gradient explain save \
	colours slices history look table flow edit heads context controls sentence walk page)
BARE := -e '/^\/\/ SPDX/d' -e '/^ *\/\*.*\*\/$$/d' -e '/^ *\/\*\([^*]\|\*[^/]\)*$$/,/\*\/$$/d' -e 's/^ *//' -e '/^$$/d'
PAGE_STYLES := $(patsubst %,src/write/html/page/%.css,page walk)

$(BUILD)/write/html/page.html: src/write/html/page/page.html $(PAGE_STYLES) $(PAGE_SCRIPTS) Makefile | $(FOLDERS)
	@sed $(BARE) $(PAGE_SCRIPTS) >$(BUILD)/write/html/page.js
	@sed $(BARE) $(PAGE_STYLES) >$(BUILD)/write/html/page.css
	@sed -e '/^@style@$$/{r $(BUILD)/write/html/page.css' -e 'd' -e '}' -e '/^@script@$$/{r $(BUILD)/write/html/page.js' -e 'd' -e '}' $< >$@

$(BUILD)/write/html/page.c: $(BUILD)/write/html/page.html
	$(call ARRAY,write/html/page_data.h,page)

$(BUILD)/lesson/table.c: src/lesson/lessons.awk man/attn-lessons.7 | $(FOLDERS)
	$(call say,MAKE,$@)LC_ALL=C awk -f $^ >$@

$(GENERATED): %.o: %.c
	$(COMPILE) -c -o $@ $<

$(BUILD)/%.o: tests/%.c Makefile | $(BUILD)
	$(COMPILE_TEST) -c -o $@ $<

# The sources of test_pairs, which also contains the full program.
PAIRS := $(patsubst tests/pairs/%.c,$(BUILD)/pairs_%.o,$(wildcard tests/pairs/*.c))
$(PAIRS): $(BUILD)/pairs_%.o: tests/pairs/%.c Makefile | $(BUILD)
	$(COMPILE_TEST) -Itests -c -o $@ $<

$(BUILD)/test_pairs: $(PAIRS) $(BUILD)/faults/main.o

# The sources of test_why, which contains its own attention and the full program.
WHY := $(patsubst tests/why/%.c,$(BUILD)/why_%.o,$(wildcard tests/why/*.c))
$(WHY): $(BUILD)/why_%.o: tests/why/%.c Makefile | $(BUILD)
	$(COMPILE_TEST) -Itests -c -o $@ $<

$(BUILD)/test_why $(BUILD)/test_why_tables: $(WHY) $(BUILD)/pairs_program.o $(BUILD)/faults/main.o

# The kernel of test_kernel_bugs.
$(BUILD)/cases_kernel.o: tests/cases/kernel.c Makefile | $(BUILD)
	$(COMPILE_TEST) -Itests -c -o $@ $<

$(BUILD)/test_kernel_bugs: $(BUILD)/cases_kernel.o

# The sources of test_stress.
STRESS := $(patsubst tests/stress/%.c,$(BUILD)/stress_%.o,$(wildcard tests/stress/*.c))
$(STRESS): $(BUILD)/stress_%.o: tests/stress/%.c Makefile | $(BUILD)
	$(COMPILE_TEST) -Itests -c -o $@ $<

$(BUILD)/test_stress: $(STRESS)

$(BUILD)/test_%: $(BUILD)/test_%.o $(BUILD)/check.o $(BUILD)/support.o $(LIBRARY)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBRARY) $(LIBS)

# The full program with wrappers around system calls, and a block for each allocation. A sanitizer's library may call
# the name of getrlimit that the program does not use.
FAULT_NAMES = malloc calloc realloc free stat open fstat lseek mmap mkstemp fopen stat64 open64 fstat64 \
	lseek64 mmap64 mkstemp64 fopen64 munmap read write close access readlink __read_chk __readlink_chk \
	fchmod fchown linkat rename pthread_create newlocale sysconf sched_getaffinity fallocate fallocate64 fstatvfs fstatvfs64 pwrite pwrite64 \
	$(if $(findstring -U_FILE_OFFSET_BITS,$(CPPFLAGS)),getrlimit,getrlimit64)
FAULT_OBJECTS := $(BUILD)/faults/main.o $(BUILD)/faults/base/memory.o

$(FAULT_OBJECTS): $(BUILD)/faults/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(COMPILE) -Dmain=attn_main -DARENA_BLOCK_BYTES=0 -c -o $@ $<

# A sanitizer's library may call the wrappers before it is initialized.
$(BUILD)/faults.o: tests/faults.c Makefile | $(BUILD)
	$(COMPILE) -fno-sanitize=all -c -o $@ $<

$(BUILD)/test_faults: $(BUILD)/test_faults.o $(BUILD)/faults.o $(BUILD)/check.o $(BUILD)/support.o $(FAULT_OBJECTS) $(LIBRARY)
	$(call say,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) $(FAULT_NAMES:%=-Wl,--wrap=%) -o $@ $^ $(LIBS)

$(CASES): %/.unpacked: %.tar
	$(call say,TAR,$<)sh tests/pack.sh --unpack $*

$(TESTS) $(BUILD)/run_examples: | $(CASES)

$(BUILD)/run_examples: $(BUILD)/run_examples.o $(BUILD)/check.o
	$(call say,LD,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(FOLDERS):
	@mkdir -p $@

# Tests that only make check-whole runs: repetitions in double, long inputs, limits, interruptions; many kernels, tables
# and cases of one kind, which another test has a few of; browsers, the site, the shells, pictures, and the checkers.
LEFT = $(addprefix test_,case_mistakes compare fused_f64 fused_backward_f64 kernel_bugs limits observe_fits why_tables) \
	$(addprefix check_,browser.sh cases.sh completion.sh limits.sh long.sh mistakes.sh porters.sh schema.sh site.sh svg.sh \
	worksheet.sh) run_selfcheck run_examples_selfcheck
# CHECKED_LATER: nor what check-whole runs in full, for .ci/run, which runs both.
check: attn tests
	WITHOUT='$(LEFT) $(if $(CHECKED_LATER),$(filter-out whole,$(SAMPLED)))' sh tests/run.sh $(BUILD)

# Tests that sample in make check, or do not run there.
SAMPLED = $(addprefix test_,archive cases decimal explain faults fused fused_backward fuzz grad grad_layers mistakes npy observe \
	session stress why worksheet) \
	$(addprefix check_,install.sh options.sh page.sh pipe.sh wrong.sh) whole $(LEFT)
# Tests that skip if a program is missing that make check does not need.
SKIPPING = $(addprefix check_,printed.sh python.sh)
check-whole: attn tests
	ATTN_WHOLE=1 sh tests/run.sh $(BUILD) $(SAMPLED) $(SKIPPING)

# The most telling tests in the least time: no equations of pages, no pairs of options; a sample of faults, random
# numbers and shapes.
SLOW_TESTS = check_page.sh check_environment.sh test_pairs
check-quick: attn tests
	FAULTS_STRIDE=50 WITHOUT='$(SLOW_TESTS) $(LEFT)' sh tests/run.sh $(BUILD)

tests: $(BUILD)/attn $(TESTS) $(BUILD)/run_examples

# All benchmarks, or the parts that BENCH names: tests/bench/run.sh.
bench: attn $(addprefix $(BUILD)/bench_,baseline files kernel measure processes)
	sh tests/bench/run.sh $(BUILD) $(BENCH)

# BLIS, a peer to measure if it links.
BLIS = $(shell echo 'void sgemm_(void); int main(void) { sgemm_(); }' | \
	$(CC) -x c - -lblis -o /dev/null 2>/dev/null && echo -DHAVE_BLIS -lblis)

$(BUILD)/bench_kernel $(BUILD)/bench_files: $(BUILD)/%: tests/bench/%.c $(LIBRARY) | $(BUILD)
	$(CC) $(STRICT) -Isrc $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(if $(filter %_kernel,$@),$(BLIS)) $(LIBS)

$(BUILD)/bench_%: tests/bench/%.c | $(BUILD)
	$(CC) $(STRICT) $(CFLAGS) $(LDFLAGS) -o $@ $<

SHARE = $(DESTDIR)$(PREFIX)/share
ZSH_FUNCTIONS = $(PREFIX)/share/zsh/site-functions
BASH_COMPLETION = $(SHARE)/bash-completion/completions/attn
ZSH_COMPLETION = $(DESTDIR)$(ZSH_FUNCTIONS)/_attn
FISH_COMPLETION = $(SHARE)/fish/vendor_completions.d/attn.fish
PAGES := $(notdir $(wildcard man/*.[157]))
INSTALLED_PAGES = $(foreach page,$(PAGES),man$(subst .,,$(suffix $(page)))/$(page))

# Installs the program without debug symbols; STRIP=: keeps them. macOS and BSD lack install -D.
STRIP ?= strip
install install-strip: $(BUILD)/attn
	install -d '$(DESTDIR)$(PREFIX)/bin'
	install -m 755 $(BUILD)/attn '$(DESTDIR)$(PREFIX)/bin/attn'
	$(STRIP) '$(DESTDIR)$(PREFIX)/bin/attn'
	place() { install -d "$$(dirname "$$2")" && install -m 644 "$$1" "$$2"; }; \
	for page in $(INSTALLED_PAGES); do place "man/$${page##*/}" '$(SHARE)/man'/"$$page" || exit; done; \
	place data/completion/attn.bash '$(BASH_COMPLETION)' && place data/completion/attn.zsh '$(ZSH_COMPLETION)' && \
		place data/completion/attn.fish '$(FISH_COMPLETION)'

uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/attn' $(INSTALLED_PAGES:%='$(SHARE)/man/%') '$(BASH_COMPLETION)' '$(ZSH_COMPLETION)' \
		'$(FISH_COMPLETION)'

include tests/checkers.mk tests/analyze.mk tests/fuzz/fuzz.mk data/packaging/release.mk \
	data/packaging/static.mk

lint:
	mandoc -T lint -W warning $(PAGES:%=man/%)
	if command -v groff >/dev/null; then for page in $(PAGES); do \
		said=$$(groff -k -mandoc -ww -z -T utf8 man/$$page 2>&1) && test -z "$$said" || { echo "$$said"; exit 1; }; done; fi

format:
	clang-format -i src/main.c $(ROOMS:%=src/%/*.[ch]) tests/*.[ch] tests/bench/*.c tests/fuzz/*.[ch] tests/pairs/*.[ch] tests/why/*.[ch]

clean:
	rm -rf build '$(BUILD)' attn
	sh tests/pack.sh --clean $(FAMILIES)

-include $(wildcard $(FOLDERS:%=%/*.d) $(FAULT_OBJECTS:.o=.d))
.PHONY: all check check-whole check-quick check-asan check-tsan check-msan check-valgrind analyze fuzz fuzzers $(FUZZERS:%=fuzz-%) tests \
	$(addprefix valgrind-,$(VALGRIND_TESTS) $(VALGRIND_EXAMPLES)) bench install install-strip uninstall lint format clean check-ports \
	dist distcheck deb check-deb release-check
.SECONDARY:
.DELETE_ON_ERROR:
