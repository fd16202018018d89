# SPDX-License-Identifier: MIT
# gcc -fanalyzer, clang-tidy and cppcheck.
#
# Disabled checks: parameters that could be swapped (their order is that of the equations), functions of Annex K, which
# the C library lacks, strcpy of a constant into an array of its size, the length that snprintf returns for a message to
# cut, and the size of a pointer, which a list of pointers needs; gcc warns of it in place of an array's.
# tests/analyze.h has facts from other files. gcc counts a vector's elements as bits of a shift, and does not know that
# read fills its buffer. Other findings are explained at their lines. The kernels are analysed once for each instruction
# set, with their common source.
TIDY = -*,bugprone-*,cert-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-bugprone-sizeof-expression,$\
	-cert-err33-c,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,$\
	-clang-analyzer-security.insecureAPI.strcpy
MODEL = $(if $(filter src/base/error.c src/read/json.c src/read/printed_table.c,$1),,-include tests/analyze.h)
# How many states of a function clang follows; its default, 225000, takes four times as long.
ANALYZED_STATES = 50000
ANALYZED_AS = -std=c11 -D_GNU_SOURCE -Isrc $(CJSON_CFLAGS)
# SINCE: a commit; analyses only sources changed since then, or with a changed header: tests/changed.sh. A full run of a
# clean checkout writes its commit to tests/analyzed, which .ci/run uses as SINCE; release-check is always a full run.
ANALYZED_SOURCES = $(filter $(if $(SINCE),$(shell sh tests/changed.sh $(SINCE)),%),$(SOURCES) $(ISAS))
CPPCHECKS = warning,performance,portability
ANALYZED := $(ANALYZED_SOURCES:src/%.c=$(BUILD)/analyze/%.ok)
analyze: $(ANALYZED)
	$(if $(ANALYZED),cppcheck --quiet -j $(shell nproc) --std=c11 --enable=$(CPPCHECKS) --inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem -D_GNU_SOURCE -Isrc $(if $(SINCE),$(ANALYZED_SOURCES),src))
	$(if $(SINCE),,@git diff --quiet HEAD -- src && git rev-parse HEAD >tests/analyzed || true)

$(ANALYZED): $(BUILD)/analyze/%.ok: src/%.c tests/analyze.h $(HEADERS) Makefile tests/analyze.mk
	@mkdir -p $(@D)
	gcc $(ANALYZED_AS) $(call ISA_FLAGS,$<) $(call MODEL,$<) -Werror -O1 -fanalyzer \
		$(if $(filter src/read/load.c,$<),-Wno-analyzer-use-of-uninitialized-value) \
		$(if $(filter $(ISAS),$<),-Wno-psabi -Wno-analyzer-shift-count-overflow) -c -o /dev/null $<
	clang-tidy --quiet --checks='$(TIDY)' --header-filter='kernel_|functions_' --warnings-as-errors='*' $< -- \
		-Xclang -analyzer-config -Xclang max-nodes=$(ANALYZED_STATES) $(ANALYZED_AS) $(call ISA_FLAGS,$<) $(call MODEL,$<)
	@touch $@
