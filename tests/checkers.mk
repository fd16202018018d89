# SPDX-License-Identifier: MIT
# The tests under sanitizers, valgrind and other compilers, and release-check, which runs them all.

# All tests under the sanitizers, by clang in a separate folder, which the fuzzers share; not the browser, which would
# show the same; one fault in twenty, since a process starts slowly there. ASAN_TESTS: these tests. The sanitizer's
# stack for signals asks the C library for a size, by a call that test_faults makes fail.
MAKE_ASAN = $(MAKE) BUILD=build/asan CC='$(CLANG)' CPPFLAGS='$(CPPFLAGS) -DARENA_BLOCK_BYTES=0' \
	CFLAGS='$(SANITIZE) -fsanitize=fuzzer-no-link'
CLANG ?= clang
ASAN_TESTS ?= programs examples scripts whole
check-asan:
	+$(MAKE_ASAN) tests
	ASAN_OPTIONS=use_sigaltstack=0 FAULTS_STRIDE=20 ATTN_SLOW=1 ATTN_BROWSER= sh tests/run.sh build/asan $(ASAN_TESTS)

# ThreadSanitizer: the modules that start threads, long jobs and their parts. It needs a kernel that does not randomize
# addresses.
IN_PLACE = $(shell setarch "$$(uname -m)" -R true 2>/dev/null && echo setarch "$$(uname -m)" -R)
check-tsan:
	$(MAKE) BUILD=build/tsan CFLAGS='-O1 -g1 -fsanitize=thread' $(addprefix build/tsan/,attn test_threads test_compare test_fused test_faults)
	TSAN_OPTIONS=halt_on_error=1 ATTN_SLOW=1 FAULTS_STRIDE=$${FAULTS_STRIDE:-50} $(IN_PLACE) \
		sh tests/run.sh build/tsan test_threads test_compare test_fused test_faults check_jsonl.sh check_long.sh

# Uninitialized memory, with clang. tests/msan.c is between the tests and cJSON, which is not instrumented. The
# sanitizer does not know that fstat64 and the like, for large files, write. It runs the scripts that compute what no
# other test does.
MSAN_TESTS ?= programs examples whole check_long.sh check_page.sh check_pipe.sh check_svg.sh
MSAN_NAMES = cJSON_ParseWithLengthOpts cJSON_Parse cJSON_Duplicate cJSON_CreateObject cJSON_PrintUnformatted
MSAN_MAKE = $(MAKE) BUILD=build/msan CC='$(CLANG)' CPPFLAGS='$(CPPFLAGS) -DARENA_BLOCK_BYTES=0 -U_FILE_OFFSET_BITS -U_TIME_BITS' \
	CFLAGS='-O2 -g -fsanitize=memory -fno-omit-frame-pointer'
check-msan:
	+$(MSAN_MAKE) build/msan/msan.o
	+$(MSAN_MAKE) LDFLAGS='$(MSAN_NAMES:%=-Wl,--wrap=%) build/msan/msan.o $(CJSON_LIBS)' tests
	FAULTS_STRIDE=200 ATTN_SLOW=1 WITHOUT=test_limits sh tests/run.sh build/msan $(MSAN_TESTS)

# valgrind, which sees into cJSON and the C library: for readers, binary files and the command line. It computes long
# double in 64 bits, too few for test_stages, test_compare and attn diff, and would take minutes for the other tests.
VALGRIND = valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect,possible \
	--errors-for-leak-kinds=definite,indirect,possible
# With the flags of the first build, whose objects a compiler cache then has.
VALGRIND_TESTS = npy safetensors archive json_arrays json_syntax mask pool tensor threads exact colormap generator
VALGRIND_EXAMPLES = tests/cli/binary.test README.md
check-valgrind:
	$(MAKE) BUILD=build/valgrind CPPFLAGS='$(CPPFLAGS) -DARENA_BLOCK_BYTES=0' \
		$(addprefix build/valgrind/,attn run_examples $(VALGRIND_TESTS:%=test_%))
	mkdir -p build/valgrind/under
	printf '#!/bin/sh\nexec %s "%s" "$$@"\n' '$(VALGRIND)' '$(CURDIR)/build/valgrind/attn' >build/valgrind/under/attn
	chmod +x build/valgrind/under/attn
	$(MAKE) --no-print-directory --output-sync $(addprefix valgrind-,$(VALGRIND_EXAMPLES) $(VALGRIND_TESTS))

$(VALGRIND_TESTS:%=valgrind-%): valgrind-%:
	@echo 'valgrind test_$*'; ATTN_QUICK=1 $(VALGRIND) build/valgrind/test_$*

$(VALGRIND_EXAMPLES:%=valgrind-%): valgrind-%:
	@echo 'valgrind $*'; ATTN_BIN=build/valgrind/under ATTN_SLOW=1 build/valgrind/run_examples $*

check-ports:
	sh tests/ports.sh gcc clang aarch64 s390x i386

# Before a release: all that .ci/run samples or omits.
release-check: lint
	$(MAKE) check
	$(MAKE) check-whole
	ATTN_ALL=1 ATTN_WHOLE=1 sh tests/run.sh $(BUILD) test_cases test_kernel_bugs test_grad test_grad_layers test_pairs test_worksheet check_mistakes.sh check_page.sh
	$(BUILD)/test_why --pairs 1800
	$(MAKE) analyze
	sh tests/mutate.sh --check
	sh tests/ports.sh gcc clang aarch64 i386
	$(MAKE) check-cross
	for checker in asan tsan msan valgrind; do $(MAKE) check-$$checker || exit; done
	ATTN_WHOLE=1 sh tests/run.sh build/asan test_archive test_npy
	for test in archive npy; do $(VALGRIND) build/valgrind/test_$$test || exit; done
	DISTCHECK='check check-whole' $(MAKE) -j1 distcheck check-deb release
	$(MAKE) fuzz
