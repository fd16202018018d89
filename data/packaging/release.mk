# SPDX-License-Identifier: MIT
# A release, the Debian package, and the site of the manual.

# All files that git tracks, or of an unpacked release; dated by the last commit, or by the unpacked files.
VERSION := $(shell sed -n 's/^.define ATTN_VERSION "\(.*\)"/\1/p' src/base/version.h)
TRACKED = $(if $(wildcard .git),git ls-files,\
	find . \( -path ./build -o -path ./$(BUILD) $(FAMILIES:%=-o -path './%/*' ! -name README.md ! -name cases.txt) \) \
	-prune -o -type f ! -path ./attn -printf '%P\n')
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

# Debian's source package and binary package, from the files in debian/, with @VERSION@, @DATE@ and @COPYRIGHT@ filled
# in.
PACKAGING = data/packaging/debian
DEB_SOURCE = $(BUILD)/deb/attn-$(VERSION)
deb: dist
	rm -rf $(BUILD)/deb
	mkdir -p $(BUILD)/deb
	cp $(BUILD)/attn-$(VERSION).tar.gz $(BUILD)/deb/attn_$(VERSION).orig.tar.gz
	tar --extract --file=$(BUILD)/attn-$(VERSION).tar.gz --directory=$(BUILD)/deb
	cp -R $(PACKAGING) $(DEB_SOURCE)/debian
	for file in changelog copyright; do sed -e 's/@VERSION@/$(VERSION)/' \
		-e "s/@DATE@/$$(LC_ALL=C date -u -R -d @$(DATE))/" -e "s/@COPYRIGHT@/$$(sed -n 's/^Copyright (c) //p' LICENSE)/" \
		$(PACKAGING)/$$file.in >$(DEB_SOURCE)/debian/$$file && rm $(DEB_SOURCE)/debian/$$file.in || exit; done
	sed '1,/^Copyright/d' LICENSE | sed '1d; s/^$$/./; s/^/ /' >>$(DEB_SOURCE)/debian/copyright
	cd $(BUILD)/deb && SOURCE_DATE_EPOCH=$(DATE) dpkg-source --build attn-$(VERSION)
	cd $(DEB_SOURCE) && unset MAKEFLAGS MFLAGS MAKELEVEL && SOURCE_DATE_EPOCH=$(DATE) debian/rules binary
	cp $(BUILD)/deb/attn_$(VERSION)-1_*.deb $(BUILD)

check-deb: deb
	sh tests/deb.sh $(BUILD)/attn_$(VERSION)-1_$(shell dpkg --print-architecture 2>/dev/null).deb

# The manual as web pages that need no network.
site: $(BUILD)/attn
	rm -rf $(BUILD)/site
	sh data/packaging/site.sh $(BUILD)/attn $(BUILD)/site

# The files of a release, in BUILD/release. CJSON=PATH for the static programs, URL of the source for packagers; what is
# skipped is an error unless ALLOW_SKIPPED=1.
release: dist $(BUILD)/attn $(BUILD)/run_examples
	+MAKE='$(MAKE)' CJSON='$(CJSON)' URL='$(URL)' ALLOW_SKIPPED='$(ALLOW_SKIPPED)' sh data/packaging/release.sh $(BUILD) $(VERSION)

.PHONY: site release
