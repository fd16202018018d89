# SPDX-License-Identifier: MIT
# libFuzzer's targets, and the same targets in the normal build, as build/test_fuzz.

# Each target starts from its seeds and earlier findings, and ends at its first finding, which it leaves in build/fuzz.
# The programs are in check-asan's folder. make runs as many at a time as it has jobs.
fuzz: fuzzers
	$(MAKE) --no-print-directory $(FUZZERS:%=fuzz-%)

fuzzers:
	+$(MAKE_ASAN) $(FUZZERS:%=build/asan/fuzz_%)

$(FUZZERS:%=fuzz-%): fuzz-%: | tests/fuzz/seeds/.unpacked tests/golden/binary/.unpacked tests/golden/archive/.unpacked
	sh tests/fuzz/run.sh $* $(FUZZ_SECONDS)

$(BUILD)/fuzz_%.o: tests/fuzz/fuzz_%.c Makefile | $(BUILD)
	$(COMPILE) -c -o $@ $<

$(BUILD)/fuzz_%: $(BUILD)/fuzz_%.o $(LIBRARY)
	$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS)

# The same targets in one program, each under a separate name.
REPLAYS := $(FUZZERS:%=$(BUILD)/replay_%.o)
$(REPLAYS): $(BUILD)/replay_%.o: tests/fuzz/fuzz_%.c Makefile | $(BUILD)
	$(COMPILE) -DLLVMFuzzerTestOneInput=fuzz_$* -c -o $@ $<

$(BUILD)/test_fuzz: $(REPLAYS)

