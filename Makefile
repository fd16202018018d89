# make                the program, ./attn
# make check          builds and runs the tests, JOBS of them at a time (the processors there are)
# make check-whole    what make check takes a sample of, whole, in some minutes
# make check-quick    those that say most
# make check-asan     the same under the address and undefined-behaviour sanitizers
# make check-ports    the suite by gcc, clang, on aarch64 and s390x (emulated), with 32 bits: tests/ports.sh says how
# make fuzz           fuzzes the readers, the command line and the paths with libFuzzer (clang), FUZZ_SECONDS each
# make check-valgrind, check-tsan, check-msan
#                     the tests, or those that it concerns, under valgrind, ThreadSanitizer, MemorySanitizer (clang)
# make analyze        gcc -fanalyzer, clang-tidy and cppcheck over src: no output, or it fails
# make bench          the benchmarks (PYTHON: an interpreter that has PyTorch; BENCH: parts, such as decode)
# make install        PREFIX and DESTDIR as usual, with the completion of bash, zsh and fish; make uninstall takes
#                     it away again
# make dist           build/attn-VERSION.tar.gz and its .sha256, the same bytes each time; make distcheck proves it
# make deb            build/attn_VERSION-1_ARCHITECTURE.deb; make check-deb installs it into a folder and removes it
# make format         clang-format over the sources; make lint checks the man pages
#
# Another build beside the first: make BUILD=build/clang CC=clang

CC ?= cc
CFLAGS ?= -O3 -g
PREFIX ?= /usr/local
BUILD ?= build
PKG_CONFIG ?= pkg-config

# As many jobs as there are processors, where make is not told how many; what `clean` removes nobody else makes.
ifeq ($(MAKELEVEL)$(filter clean,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

SANITIZE = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_SECONDS ?= 60
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wvla
CJSON_CFLAGS := $(shell $(PKG_CONFIG) --cflags libcjson)
CJSON_LIBS := $(shell $(PKG_CONFIG) --libs libcjson)
# A product of floats is a float: not what the x87 makes of it, nor the double that C allows on s390x.
MACHINE := $(shell $(CC) -dumpmachine)
MACHINE_FLAGS := $(if $(filter i386-% i486-% i586-% i686-%,$(MACHINE)),-msse2 -mfpmath=sse) \
	$(if $(filter s390x-%,$(MACHINE)),-fexcess-precision=fast)
STRICT = -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 $(WARNINGS) -ffp-contract=off $(MACHINE_FLAGS)
COMPILE = $(CC) $(STRICT) -MMD -MP -Isrc $(CJSON_CFLAGS) $(CPPFLAGS) $(CFLAGS)
LIBS = $(CJSON_LIBS) -lm -pthread

# An instruction set is a file kernel/isa_NAME.c, whose first line says on which machine it is compiled (as MACHINE
# begins, or any) and with which flags, the last ones winning over CFLAGS: it is optimised under the sanitizers too.
KERNEL_FLAGS = -O3 -Wno-psabi
ISA_MACHINES = $(shell sed -n '1s,.*machine: \([^;]*\);.*,\1,p' $1)
ISA_FLAGS = $(shell sed -n '1s,.*flags: \(.*\) \*/,\1,p' $1)
ALL_ISAS := $(wildcard src/kernel/isa_*.c)
ISAS := $(foreach isa,$(ALL_ISAS),$(if $(filter any $(firstword $(subst -, ,$(MACHINE))),$(call ISA_MACHINES,$(isa))),$(isa)))
# Those whose flags the compiler does not know are left out, and kernel_choose.c is told.
LEFT_OUT := $(foreach isa,$(ISAS),$(if $(shell $(CC) $(call ISA_FLAGS,$(isa)) -fsyntax-only -x c /dev/null 2>&1),$(isa)))
ISAS := $(filter-out $(LEFT_OUT),$(ISAS))
# What is made of kernel_body.h is compiled again for doubles.
DOUBLE_ISAS := $(if $(ISAS),$(shell grep -l 'include "kernel/kernel_body.h"' $(ISAS)))
FLOAT_KERNELS := $(ISAS:src/%.c=$(BUILD)/%.o)
DOUBLE_KERNELS := $(DOUBLE_ISAS:src/%.c=$(BUILD)/%_f64.o)
KERNELS := $(FLOAT_KERNELS) $(DOUBLE_KERNELS)

# A room is a folder of src: src/README.md.
ROOMS := $(patsubst src/%/README.md,%,$(wildcard src/*/README.md src/*/*/README.md))
SOURCES := $(filter-out $(ALL_ISAS),$(wildcard src/*.c $(ROOMS:%=src/%/*.c)))
HEADERS := $(wildcard $(ROOMS:%=src/%/*.h))
EXAMPLES := $(patsubst data/%.json,$(BUILD)/cli/example_%.o,$(wildcard data/*.json))
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/%.o) $(BUILD)/write/html/page.o $(BUILD)/lesson/lessons.o $(BUILD)/base/decimal_powers.o $(EXAMPLES) $(KERNELS)
LIBRARY := $(BUILD)/libattn.a
FOLDERS := $(BUILD) $(ROOMS:%=$(BUILD)/%)
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
TESTS := $(patsubst tests/test_%.c,$(BUILD)/test_%,$(wildcard tests/test_*.c))

all: attn

attn: $(BUILD)/attn
	cp $< $@

$(BUILD)/attn: $(BUILD)/main.o $(LIBRARY)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# All but main, for the program and the tests; made anew, so that nothing stays in it that has gone; rooms
# may have files of one name.
$(LIBRARY): $(filter-out $(BUILD)/main.o,$(OBJECTS))
	rm -f $@
	$(AR) qcs $@ $^

$(FLOAT_KERNELS): $(BUILD)/%.o: src/%.c Makefile | $(FOLDERS)
	$(COMPILE) $(KERNEL_FLAGS) $(call ISA_FLAGS,$<) -c -o $@ $<

$(BUILD)/kernel/kernel_choose.o: CPPFLAGS += $(LEFT_OUT:src/kernel/isa_%.c=-DWITHOUT_%)

$(DOUBLE_KERNELS): $(BUILD)/%_f64.o: src/%.c Makefile | $(FOLDERS)
	$(COMPILE) $(KERNEL_FLAGS) $(call ISA_FLAGS,$<) -DDOUBLES -c -o $@ $<

$(BUILD)/%.o: src/%.c Makefile | $(FOLDERS)
	$(COMPILE) -c -o $@ $<

# The C library's header about processors shifts an int by 31.
$(BUILD)/kernel/kernel_choose.o: override CFLAGS += -fno-sanitize=shift

# A file as an array, NAME_bytes, and its NAME_length, which HEADER declares: $(call ARRAY,HEADER,NAME).
ARRAY = { echo '\#include "$1"'; echo 'const unsigned char $2_bytes[] = {'; \
	od -A n -v -t x1 $< | sed 's/[0-9a-f][0-9a-f]/0x&,/g'; \
	echo '0};'; echo 'const size_t $2_length = sizeof $2_bytes - 1;'; } >$@

# The examples of data/: cli/example.h has a row for each, in whose name of an array "_" stands for "-".
$(EXAMPLES:.o=.c): $(BUILD)/cli/example_%.c: data/%.json Makefile | $(FOLDERS)
	$(call ARRAY,cli/example.h,example_$(subst -,_,$*))

$(EXAMPLES): %.o: %.c
	$(COMPILE) -c -o $@ $<

$(BUILD)/base/decimal_powers.c: src/base/decimal_powers.awk src/base/decimal_powers.h | $(FOLDERS)
	awk -f $^ >$@

$(BUILD)/base/decimal_powers.o: $(BUILD)/base/decimal_powers.c
	$(COMPILE) -c -o $@ $<

# The page of html.c: its style and its scripts put into page.html, and all of it into an array.
PAGE_SCRIPTS := $(patsubst %,src/write/html/page/%.js,job random numbers model edits formulas steps equations mistakes explain save \
	colours slices history look table flow edit heads links context controls walk page)

$(BUILD)/write/html/page.html: src/write/html/page/page.html src/write/html/page/page.css $(PAGE_SCRIPTS) Makefile | $(FOLDERS)
	cat $(PAGE_SCRIPTS) >$(BUILD)/write/html/page.js
	sed -e '/^@style@$$/{r src/write/html/page/page.css' -e 'd' -e '}' -e '/^@script@$$/{r $(BUILD)/write/html/page.js' -e 'd' -e '}' $< >$@

$(BUILD)/write/html/page.c: $(BUILD)/write/html/page.html
	$(call ARRAY,write/html/page.h,page)

$(BUILD)/write/html/page.o: $(BUILD)/write/html/page.c
	$(COMPILE) -c -o $@ $<

$(BUILD)/lesson/lessons.c: src/lesson/lessons.awk man/attn.1 | $(FOLDERS)
	LC_ALL=C awk -f $^ >$@

$(BUILD)/lesson/lessons.o: $(BUILD)/lesson/lessons.c
	$(COMPILE) -c -o $@ $<

$(BUILD)/%.o: tests/%.c Makefile | $(BUILD)
	$(COMPILE) -c -o $@ $<

# What test_pairs is made of: among that, the whole program.
PAIRS := $(patsubst tests/pairs/%.c,$(BUILD)/pairs_%.o,$(wildcard tests/pairs/*.c))
$(PAIRS): $(BUILD)/pairs_%.o: tests/pairs/%.c Makefile | $(BUILD)
	$(COMPILE) -Itests -c -o $@ $<

$(BUILD)/test_pairs: $(PAIRS) $(BUILD)/faults/main.o

# What test_why is made of: attention of its own, and the whole program, which it asks.
WHY := $(patsubst tests/why/%.c,$(BUILD)/why_%.o,$(wildcard tests/why/*.c))
$(WHY): $(BUILD)/why_%.o: tests/why/%.c Makefile | $(BUILD)
	$(COMPILE) -Itests -c -o $@ $<

$(BUILD)/test_why $(BUILD)/test_why_tables: $(WHY) $(BUILD)/pairs_program.o $(BUILD)/faults/main.o

# What test_stress is made of.
STRESS := $(patsubst tests/stress/%.c,$(BUILD)/stress_%.o,$(wildcard tests/stress/*.c))
$(STRESS): $(BUILD)/stress_%.o: tests/stress/%.c Makefile | $(BUILD)
	$(COMPILE) -Itests -c -o $@ $<

$(BUILD)/test_stress: $(STRESS)

$(BUILD)/test_%: $(BUILD)/test_%.o $(BUILD)/check.o $(BUILD)/support.o $(LIBRARY)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBRARY) $(LIBS)

# The whole program with wrappers before what the system gives it, and each allocation a block of its own.
FAULT_NAMES = malloc calloc realloc free stat open fstat lseek mmap mkstemp fopen getrlimit stat64 open64 fstat64 \
	lseek64 mmap64 mkstemp64 fopen64 getrlimit64 munmap read write close access readlink __read_chk __readlink_chk \
	fchmod fchown linkat rename pthread_create newlocale sysconf sched_getaffinity fallocate fallocate64 pwrite pwrite64
FAULT_OBJECTS := $(BUILD)/faults/main.o $(BUILD)/faults/base/memory.o

$(FAULT_OBJECTS): $(BUILD)/faults/%.o: src/%.c Makefile
	mkdir -p $(@D)
	$(COMPILE) -Dmain=attn_main -DARENA_BLOCK_BYTES=0 -c -o $@ $<

# A sanitizer's own library may come through the wrappers before it is ready to be asked.
$(BUILD)/faults.o: tests/faults.c Makefile | $(BUILD)
	$(COMPILE) -fno-sanitize=all -c -o $@ $<

$(BUILD)/test_faults: $(BUILD)/test_faults.o $(BUILD)/faults.o $(BUILD)/check.o $(BUILD)/support.o $(FAULT_OBJECTS) $(LIBRARY)
	$(CC) $(CFLAGS) $(LDFLAGS) $(FAULT_NAMES:%=-Wl,--wrap=%) -o $@ $^ $(LIBS)

$(BUILD)/run_examples: $(BUILD)/run_examples.o $(BUILD)/check.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(FOLDERS):
	mkdir -p $@

check: attn tests
	sh tests/run.sh $(BUILD)

# What takes a sample in make check.
SAMPLED = $(addprefix test_,decimal explain faults fused fused_f64 fused_backward fused_backward_f64 fuzz grad limits pairs \
	stress why worksheet) check_mistakes.sh check_page.sh check_worksheet.sh
check-whole: attn tests
	ATTN_WHOLE=1 sh tests/run.sh $(BUILD) $(SAMPLED)

# What says most in least time: the browser, long inputs, limits of time and memory and the checkers' own tests are left
# out, of the faults, the random numbers and the shapes a part is tried.
SLOW_TESTS = check_page.sh check_long.sh check_limits.sh check_environment.sh run_selfcheck run_examples_selfcheck test_pairs test_limits
check-quick: attn tests
	FAULTS_STRIDE=50 WITHOUT='$(SLOW_TESTS)' sh tests/run.sh $(BUILD)

# Everything again under the sanitizers, in a folder of its own, but for the browser, which shows what it showed; of the
# faults one in twenty, as a process takes longer to start there.
check-asan:
	$(MAKE) BUILD=build/asan CPPFLAGS='$(CPPFLAGS) -DARENA_BLOCK_BYTES=0' CFLAGS='$(SANITIZE)' tests
	FAULTS_STRIDE=20 ATTN_SLOW=1 ATTN_BROWSER= sh tests/run.sh build/asan

# Threads, under the sanitizer that watches them: the modules that start them, long jobs and their parts. It knows where
# memory lies as long as the kernel does not choose the places at random.
IN_PLACE = $(shell setarch "$$(uname -m)" -R true 2>/dev/null && echo setarch "$$(uname -m)" -R)
check-tsan:
	$(MAKE) BUILD=build/tsan CFLAGS='-O1 -g -fsanitize=thread' $(addprefix build/tsan/,attn test_threads test_compare test_fused test_faults)
	TSAN_OPTIONS=halt_on_error=1 ATTN_SLOW=1 FAULTS_STRIDE=50 $(IN_PLACE) \
		sh tests/run.sh build/tsan test_threads test_compare test_fused test_faults check_long.sh

# Memory that nobody has written, with clang. tests/msan.c stands between the tests and cJSON, which is not instrumented.
# Of fstat64 and the like, which large files ask for, the sanitizer does not know that they write. Of the scripts those
# whose command lines compute what no other test does.
MSAN_TESTS = programs examples check_long.sh check_page.sh check_pipe.sh check_svg.sh
MSAN_NAMES = cJSON_ParseWithLengthOpts cJSON_Parse cJSON_Duplicate cJSON_CreateObject cJSON_PrintUnformatted
MSAN_MAKE = $(MAKE) BUILD=build/msan CC=clang CPPFLAGS='$(CPPFLAGS) -DARENA_BLOCK_BYTES=0 -U_FILE_OFFSET_BITS -U_TIME_BITS' \
	CFLAGS='-O2 -g -fsanitize=memory -fno-omit-frame-pointer'
check-msan:
	+$(MSAN_MAKE) build/msan/msan.o
	+$(MSAN_MAKE) LDFLAGS='$(MSAN_NAMES:%=-Wl,--wrap=%) build/msan/msan.o $(CJSON_LIBS)' tests
	FAULTS_STRIDE=200 ATTN_SLOW=1 ATTN_BROWSER= WITHOUT=test_limits sh tests/run.sh build/msan $(MSAN_TESTS)

# What the sanitizers do not see into, cJSON and the C library, on the readers, the binary files and the command line:
# valgrind computes long double in 64 bits, which test_stages and test_compare need whole (so does attn diff), and would
# take minutes for the arithmetic of the others.
VALGRIND = valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect,possible \
	--errors-for-leak-kinds=definite,indirect,possible
VALGRIND_TESTS = npy safetensors archive json_arrays json_syntax mask pool tensor threads exact colormap generator
VALGRIND_EXAMPLES = tests/cli/binary.test README.md
check-valgrind:
	$(MAKE) BUILD=build/valgrind CPPFLAGS='$(CPPFLAGS) -DARENA_BLOCK_BYTES=0' CFLAGS='-O1 -g' \
		$(addprefix build/valgrind/,attn run_examples $(VALGRIND_TESTS:%=test_%))
	mkdir -p build/valgrind/under
	printf '#!/bin/sh\nexec %s "%s" "$$@"\n' '$(VALGRIND)' '$(CURDIR)/build/valgrind/attn' >build/valgrind/under/attn
	chmod +x build/valgrind/under/attn
	$(MAKE) --no-print-directory --output-sync $(addprefix valgrind-,$(VALGRIND_EXAMPLES) $(VALGRIND_TESTS))

$(VALGRIND_TESTS:%=valgrind-%): valgrind-%:
	@echo 'valgrind test_$*'; $(VALGRIND) build/valgrind/test_$*

$(VALGRIND_EXAMPLES:%=valgrind-%): valgrind-%:
	@echo 'valgrind $*'; ATTN_BIN=build/valgrind/under ATTN_SLOW=1 build/valgrind/run_examples $*

# Not asked for: parameters that could be swapped (their order is that of the equations), functions of Annex K, which the
# C library does not have, strcpy of a constant into an array that is sized for it, and the length that snprintf
# returns where a message is to be cut. tests/analyze.h says what a file alone does not. gcc counts a vector's elements as
# bits of a shift, and does not know that read fills its buffer. What is left is explained at its line. The kernels are
# analysed once for each instruction set, their common source as a part of each.
TIDY = -*,bugprone-*,cert-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-cert-err33-c,$\
	-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-clang-analyzer-security.insecureAPI.strcpy
MODEL = $(if $(filter src/base/error.c,$1),,-include tests/analyze.h)
# clang follows so many states of a function; with its own 225000 it takes four times as long.
ANALYZED_STATES = 50000
ANALYZED_AS = -std=c11 -D_GNU_SOURCE -Isrc $(CJSON_CFLAGS)
ANALYZED := $(patsubst src/%.c,$(BUILD)/analyze/%.ok,$(SOURCES) $(ISAS))
analyze: $(ANALYZED)
	cppcheck --quiet -j $(shell nproc) --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem -D_GNU_SOURCE -Isrc src

$(ANALYZED): $(BUILD)/analyze/%.ok: src/%.c tests/analyze.h $(HEADERS) Makefile
	@mkdir -p $(@D)
	gcc $(ANALYZED_AS) $(call ISA_FLAGS,$<) $(call MODEL,$<) -Werror -O1 -fanalyzer \
		$(if $(filter src/read/load.c,$<),-Wno-analyzer-use-of-uninitialized-value) \
		$(if $(filter $(ISAS),$<),-Wno-psabi -Wno-analyzer-shift-count-overflow) -c -o /dev/null $<
	clang-tidy --quiet --checks='$(TIDY)' --header-filter='kernel_|functions_' --warnings-as-errors='*' $< -- \
		-Xclang -analyzer-config -Xclang max-nodes=$(ANALYZED_STATES) $(ANALYZED_AS) $(call ISA_FLAGS,$<) $(call MODEL,$<)
	@touch $@

tests: $(BUILD)/attn $(TESTS) $(BUILD)/run_examples

check-ports:
	sh tests/ports.sh gcc clang aarch64 s390x i386

# Each target starts from its seeds and what was found before, and ends at its first finding, which it leaves in
# build/fuzz. As many run at a time as make has jobs.
fuzz: fuzzers
	$(MAKE) --no-print-directory $(FUZZERS:%=fuzz-%)

fuzzers:
	$(MAKE) BUILD=build/fuzz CC=clang CFLAGS='$(SANITIZE) -fsanitize=fuzzer-no-link' $(FUZZERS:%=build/fuzz/fuzz_%)

$(FUZZERS:%=fuzz-%): fuzz-%:
	sh tests/fuzz/run.sh $* $(FUZZ_SECONDS)

$(BUILD)/fuzz_%.o: tests/fuzz/fuzz_%.c Makefile | $(BUILD)
	$(COMPILE) -c -o $@ $<

$(BUILD)/fuzz_%: $(BUILD)/fuzz_%.o $(LIBRARY)
	$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS)

# The same targets in one program, each under a name of its own.
REPLAYS := $(FUZZERS:%=$(BUILD)/replay_%.o)
$(REPLAYS): $(BUILD)/replay_%.o: tests/fuzz/fuzz_%.c Makefile | $(BUILD)
	$(COMPILE) -DLLVMFuzzerTestOneInput=fuzz_$* -c -o $@ $<

$(BUILD)/test_fuzz: $(REPLAYS)

# All of them, or the parts that BENCH names: tests/bench/run.sh.
bench: attn $(addprefix $(BUILD)/bench_,baseline files kernel measure processes)
	sh tests/bench/run.sh $(BUILD) $(BENCH)

# BLIS, a peer that is measured where it links.
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
SHELLS := bash zsh fish
PAGES := $(notdir $(wildcard man/*.[157]))
INSTALLED_PAGES = $(foreach page,$(PAGES),man$(subst .,,$(suffix $(page)))/$(page))

$(SHELLS:%=$(BUILD)/completion.%): $(BUILD)/completion.%: $(BUILD)/attn
	$< help --completion $* >$@

install: $(BUILD)/attn $(SHELLS:%=$(BUILD)/completion.%)
	install -D -m 755 $(BUILD)/attn '$(DESTDIR)$(PREFIX)/bin/attn'
	for page in $(INSTALLED_PAGES); do install -D -m 644 "man/$${page##*/}" '$(SHARE)/man'/"$$page" || exit; done
	install -D -m 644 $(BUILD)/completion.bash '$(BASH_COMPLETION)'
	install -D -m 644 $(BUILD)/completion.zsh '$(ZSH_COMPLETION)'
	install -D -m 644 $(BUILD)/completion.fish '$(FISH_COMPLETION)'

uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/attn' $(INSTALLED_PAGES:%='$(SHARE)/man/%') '$(BASH_COMPLETION)' '$(ZSH_COMPLETION)' \
		'$(FISH_COMPLETION)'

# What git tracks, or all that an unpacked release holds; dated by the last commit, or as it was unpacked.
VERSION := $(shell sed -n 's/^.define ATTN_VERSION "\(.*\)"/\1/p' src/base/version.h)
TRACKED = $(if $(wildcard .git),git ls-files,\
	find . \( -path ./build -o -path ./$(BUILD) \) -prune -o -type f ! -path ./attn -printf '%P\n')
DATE = $(if $(SOURCE_DATE_EPOCH),$(SOURCE_DATE_EPOCH),$(if $(wildcard .git),$(shell git log -1 --format=%ct),$(shell \
	stat -c %Y src/base/version.h)))

dist: $(BUILD)/attn-$(VERSION).tar.gz

.PHONY: $(BUILD)/attn-$(VERSION).tar.gz
$(BUILD)/attn-$(VERSION).tar.gz: | $(BUILD)
	$(TRACKED) >$(@D)/tracked
	LC_ALL=C sort -o $(@D)/tracked $(@D)/tracked
	tar --create --file=$(@:.gz=) --transform='s,^,attn-$(VERSION)/,' \
		--format=ustar --mtime=@$(DATE) --owner=root:0 --group=root:0 --mode=u=rwX,go=rX \
		--verbatim-files-from --files-from=$(@D)/tracked
	gzip -9nf $(@:.gz=)
	cd $(@D) && sha256sum $(@F) >$(@F).sha256

distcheck: dist
	sh tests/distcheck.sh $(BUILD)/attn-$(VERSION).tar.gz

# The package of Debian, compiled in a folder of its own. It depends on what the program is linked with.
DEB_ROOT = $(BUILD)/deb/root
DEB_DOC = $(DEB_ROOT)/usr/share/doc/attn
DEB_FLAGS = CFLAGS='-O3 -g -fstack-protector-strong -ffile-prefix-map="$(CURDIR)"=.' CPPFLAGS=-D_FORTIFY_SOURCE=2 \
	LDFLAGS='-Wl,-z,relro -Wl,-z,now -Wl,--as-needed'

define DEB_CONTROL
Package: attn
Version: $(VERSION)-1
Section: science
Priority: optional
Architecture: $(shell dpkg --print-architecture 2>/dev/null)
Maintainer: the attn developers <attn@example.org>
Description: command-line attention calculator
 Reads token embeddings and weight matrices, runs self, causal or multi-head
 attention, and shows every stage from query, key and value to the context
 vectors, as text, JSON, .npy, .safetensors or pictures. The numbers are those
 of PyTorch, draw for draw; the manual has lessons.
endef

define DEB_COPYRIGHT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: attn
Upstream-Contact: an issue of the repository

Files: *
Copyright: $(shell sed -n 's/^Copyright (c) //p' LICENSE)
License: Expat
endef

define DEB_CHANGELOG
attn ($(VERSION)-1) unstable; urgency=medium

  * Release $(VERSION); the section News of README.md says what it brings.

 -- the attn developers <attn@example.org>  $(shell LC_ALL=C date -u -R -d @$(DATE))
endef

deb: export CONTROL = $(DEB_CONTROL)
deb: export COPYRIGHT = $(DEB_COPYRIGHT)
deb: export CHANGELOG = $(DEB_CHANGELOG)
deb:
	rm -rf $(DEB_ROOT)
	$(MAKE) BUILD=$(BUILD)/deb $(DEB_FLAGS) DESTDIR=$(DEB_ROOT) PREFIX=/usr \
		ZSH_FUNCTIONS=/usr/share/zsh/vendor-completions install
	strip --remove-section=.comment --remove-section=.note $(DEB_ROOT)/usr/bin/attn
	gzip -9n $(INSTALLED_PAGES:%=$(DEB_ROOT)/usr/share/man/%)
	install -d -m 755 $(DEB_ROOT)/DEBIAN $(DEB_DOC)/examples
	install -m 644 README.md $(DEB_DOC)
	install -m 644 data/*.json data/*.svg $(DEB_DOC)/examples
	{ echo "$$COPYRIGHT" && sed '1,/^Copyright/d' LICENSE | sed '1d; s/^$$/./; s/^/ /'; } >$(DEB_DOC)/copyright
	echo "$$CHANGELOG" | gzip -9n >$(DEB_DOC)/changelog.Debian.gz
	mkdir -p $(BUILD)/deb/debian && echo 'Source: attn' >$(BUILD)/deb/debian/control
	cd $(BUILD)/deb && dpkg-shlibdeps -O root/usr/bin/attn >depends
	{ echo "$$CONTROL" && echo "Installed-Size: $$(du -sk $(DEB_ROOT)/usr | cut -f 1)" && \
		sed -n 's/^shlibs:Depends=/Depends: /p' $(BUILD)/deb/depends; } >$(BUILD)/deb/control
	grep -q '^Depends: .' $(BUILD)/deb/control
	install -m 644 $(BUILD)/deb/control $(DEB_ROOT)/DEBIAN/control
	cd $(DEB_ROOT) && find usr -type f | LC_ALL=C sort | xargs md5sum >DEBIAN/md5sums
	chmod -R u=rwX,go=rX $(DEB_ROOT)
	SOURCE_DATE_EPOCH=$(DATE) dpkg-deb --root-owner-group --build $(DEB_ROOT) $(BUILD)

check-deb: deb
	sh tests/deb.sh $(BUILD)/attn_$(VERSION)-1_$(shell dpkg --print-architecture 2>/dev/null).deb

lint:
	mandoc -T lint -W warning $(PAGES:%=man/%)
	if command -v groff >/dev/null; then for page in $(PAGES); do \
		said=$$(groff -k -mandoc -ww -z -T utf8 man/$$page 2>&1) && test -z "$$said" || { echo "$$said"; exit 1; }; done; fi

format:
	clang-format -i src/main.c $(ROOMS:%=src/%/*.[ch]) tests/*.[ch] tests/bench/*.c tests/fuzz/*.[ch] tests/pairs/*.[ch] tests/why/*.[ch]

clean:
	rm -rf build '$(BUILD)' attn

-include $(wildcard $(FOLDERS:%=%/*.d) $(FAULT_OBJECTS:.o=.d))
.PHONY: all check check-whole check-quick check-asan check-tsan check-msan check-valgrind analyze fuzz fuzzers $(FUZZERS:%=fuzz-%) tests \
	$(addprefix valgrind-,$(VALGRIND_TESTS) $(VALGRIND_EXAMPLES)) bench install uninstall lint format clean check-ports dist \
	distcheck deb check-deb
.SECONDARY:
.DELETE_ON_ERROR:
