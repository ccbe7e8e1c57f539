# SPDX-License-Identifier: Apache-2.0
# A thin layer over Meson. 'make demo' and 'make test' set up a fresh machine by themselves.
#
#   make                       the program, the libraries: build/deepclock, build/libdeepclock.so
#   make demo                  measure a real network
#   make test [SAN=address,undefined]
#   make bench                 deepclock itself beside its peers and the machine's limits
#   make lint
#   make install [PREFIX=/usr/local] [DESTDIR=...]

PREFIX ?= /usr/local
SAN ?=
ifeq ($(SAN),)
BUILD ?= build
OPTIONS := -Dbuildtype=debugoptimized
else
comma := ,
BUILD ?= build-$(subst $(comma),-,$(SAN))
# Undefined behaviour must fail the test, not only be printed.
OPTIONS := -Dbuildtype=debugoptimized -Db_sanitize=$(SAN) -Db_lundef=false -Dc_args=-fno-sanitize-recover=all
endif

.PHONY: all demo test bench lint install clean setup
all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo "meson is missing: 'make demo' installs what is needed" >&2; exit 1; }
	@meson setup $(BUILD) --prefix=$(PREFIX) $(OPTIONS) >$(BUILD).setup.log 2>&1 || { cat $(BUILD).setup.log >&2; rm -f $(BUILD).setup.log; exit 1; }
	@rm -f $(BUILD).setup.log

demo:
	@tools/setup.sh $(BUILD)
	@$(MAKE) --no-print-directory all
	$(BUILD)/deepclock bench zoo:resnet18

test:
	@tools/setup.sh $(BUILD) test
	@$(MAKE) --no-print-directory all
	@python3 tools/run_tests.py $(BUILD) $(TESTS)

bench:
	@tools/setup.sh $(BUILD)
	@$(MAKE) --no-print-directory all
	@meson test -C $(BUILD) --benchmark --no-rebuild --verbose --num-processes 1

lint:
	@tools/setup.sh $(BUILD) test
	@tools/lint.sh

install: all
	@meson install -C $(BUILD) --no-rebuild
	@for lib in $(BUILD)/ort/libonnxruntime.so.*; do \
		[ -e "$$lib" ] || continue; \
		install -D -m 644 "$$lib" "$(DESTDIR)$(PREFIX)/lib/deepclock/ort/$${lib##*/}"; \
	done

clean:
	rm -rf build build-*
