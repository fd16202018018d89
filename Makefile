# make                the program, ./attn
# make check          builds and runs the tests
# make check-asan     the same under the address and undefined-behaviour sanitizers
# make bench          the benchmarks
# make install        PREFIX and DESTDIR as usual; make uninstall takes it away again
# make format         clang-format over the sources; make lint checks the man page
#
# Another build beside the first: make BUILD=build/clang CC=clang

CC ?= cc
CFLAGS ?= -O3 -g
PREFIX ?= /usr/local
BUILD ?= build
PKG_CONFIG ?= pkg-config

SANITIZE = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wvla
CJSON_CFLAGS := $(shell $(PKG_CONFIG) --cflags libcjson)
CJSON_LIBS := $(shell $(PKG_CONFIG) --libs libcjson)
STRICT = -std=c11 -D_GNU_SOURCE $(WARNINGS) -ffp-contract=off
COMPILE = $(CC) $(STRICT) -MMD -MP -Isrc $(CJSON_CFLAGS) $(CPPFLAGS) $(CFLAGS)
LIBS = $(CJSON_LIBS) -lm

SOURCES := $(wildcard src/*.c)
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/%.o)
MODULES := $(filter-out $(BUILD)/main.o,$(OBJECTS))
TESTS := $(patsubst tests/test_%.c,$(BUILD)/test_%,$(wildcard tests/test_*.c))

all: attn

attn: $(BUILD)/attn
	cp $< $@

$(BUILD)/attn: $(OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: src/%.c Makefile | $(BUILD)
	$(COMPILE) -c -o $@ $<

$(BUILD)/%.o: tests/%.c Makefile | $(BUILD)
	$(COMPILE) -c -o $@ $<

$(BUILD)/test_%: $(BUILD)/test_%.o $(BUILD)/check.o $(BUILD)/support.o $(MODULES)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/run_examples: $(BUILD)/run_examples.o $(BUILD)/check.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD):
	mkdir -p $@

check: attn $(TESTS) $(BUILD)/run_examples
	sh tests/run.sh $(BUILD)

# Everything again under the sanitizers, in a folder of its own.
check-asan:
	$(MAKE) BUILD=build/asan CFLAGS='$(SANITIZE)' tests
	sh tests/run.sh build/asan

tests: $(BUILD)/attn $(TESTS) $(BUILD)/run_examples

bench: attn $(BUILD)/bench_baseline $(BUILD)/bench_processes
	sh tests/bench/run.sh $(BUILD)

$(BUILD)/bench_%: tests/bench/%.c | $(BUILD)
	$(CC) $(STRICT) $(CFLAGS) $(LDFLAGS) -o $@ $<

install: attn
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 attn $(DESTDIR)$(PREFIX)/bin/attn
	install -m 644 man/attn.1 $(DESTDIR)$(PREFIX)/share/man/man1/attn.1

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/attn $(DESTDIR)$(PREFIX)/share/man/man1/attn.1

lint:
	mandoc -T lint -W warning man/attn.1

format:
	clang-format -i src/*.[ch] tests/*.[ch] tests/bench/*.c

clean:
	rm -rf build attn

-include $(wildcard $(BUILD)/*.d)
.PHONY: all check check-asan tests bench install uninstall lint format clean
.SECONDARY:
