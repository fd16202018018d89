# SPDX-License-Identifier: MIT
# One program for any Linux of a machine (static, by musl, stripped), and programs for other systems.

# cJSON, compiled with the program from its source tree.
ifdef CJSON
$(BUILD)/cjson/cJSON.h: $(CJSON)/cJSON.h
	@mkdir -p $(@D)
	@cp $< $@

$(BUILD)/cjson/cJSON.o: $(CJSON)/cJSON.c $(BUILD)/cjson/cJSON.h
	$(call say,CC,$<)$(CC) -w $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(filter-out %/cJSON.o,$(OBJECTS)) $(BUILD)/main.o: | $(BUILD)/cjson/cJSON.h
endif

# STATIC_CC: the compiler, such as 'zig cc -target aarch64-linux-musl'; each one needs its own folder, STATIC. A thread of
# musl has a stack of 128 KB unless the program asks for more.
STATIC ?= build/static
STATIC_CC ?= musl-gcc
STATIC_AR = $(if $(filter %zig,$(firstword $(STATIC_CC))),$(firstword $(STATIC_CC)) ar,$(AR))
static:
	@test -f '$(CJSON)/cJSON.c' || { echo 'make static: CJSON=PATH must name the source tree of cJSON, such as' \
		'the one that apt-get source cjson makes' >&2; exit 2; }
	+$(MAKE) BUILD='$(STATIC)' CC='$(STATIC_CC)' AR='$(STATIC_AR)' CJSON='$(CJSON)' \
		LDFLAGS='-static -s -Wl,-z,stack-size=1048576' '$(STATIC)/attn'

# Fetches cJSON's source unless CJSON names it. CROSS: only these targets of zig.
check-static check-cross: attn $(BUILD)/run_examples | $(CASES)
	CJSON='$(CJSON)' BUILD='$(BUILD)' sh tests/cross.sh $(if $(filter check-static,$@),static,$(CROSS))

.PHONY: static check-static check-cross
