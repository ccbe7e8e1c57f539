# SPDX-License-Identifier: Apache-2.0
# A thin layer over Meson. 'make demo' and 'make test' set up a fresh machine by themselves.
#
#   make [WERROR=1]            the program, the libraries: build/deepclock, build/libdeepclock.so
#   make demo                  measure a real network
#   make test [SAN=address,undefined]
#   make test-all [SAN=...]    and the heavy references: PyTorch's exports, simulations, long cases
#   make bench [QUICK=1] [BENCH='zones unwind']   deepclock itself beside its limits and peers: a table,
#                               build/bench.json, build/bench.html; QUICK: few rounds, to see that each runs
#   make tables                 the commands of docs/reference/validation.md and their tables: hours
#   make wheel                  the Python package, and auditwheel's verdict on it: build/wheel
#   make wheel WHEEL_ARCH=aarch64   cross-compiled, and used in QEMU: build/wheel-aarch64
#   make site                   the documents as a site with search and the APIs: build/site (after test-all fetched MkDocs)
#   make deb                    the Debian packages, and lintian's verdict on them: build/deb
#   make test-deb               and install, use and remove them in a root directory that debootstrap makes
#   make test-aarch64           what has code of its own for AArch64, cross-compiled, in QEMU
#   make lint
#   make fuzz [SECONDS=60]      (30s: each target for so long) any bytes to each reader, side by side; needs clang
#   make install [PREFIX=/usr/local] [DESTDIR=...]
#   make uninstall              of the same PREFIX and DESTDIR

# Where to install, when it is given: to make, to make install, or to both.
export PREFIX DESTDIR
SAN ?=
SECONDS ?= 60
ifeq ($(SAN),)
BUILD ?= build
OPTIONS := -Dbuildtype=debugoptimized $(if $(WERROR),-Dwerror=true)
else
comma := ,
BUILD ?= build-$(subst $(comma),-,$(SAN))
# Undefined behaviour must fail the test, not only be printed; a number that does not fit the integer
# it is cast to is no part of `undefined`. What -O2 gains in the tests it would take to compile,
# and their messages need no more than lines (-g1).
OPTIONS := -Dbuildtype=debugoptimized -Doptimization=1 -Db_sanitize=$(SAN) -Db_lundef=false \
	-Dc_args='-g1 -fno-sanitize-recover=all$(if $(findstring undefined,$(SAN)), -fsanitize=float-cast-overflow)'
endif

# Ninja before 1.11 (Ubuntu 22.04) has no --quiet.
NINJA := ninja $$(ninja --quiet --version >/dev/null 2>&1 && echo --quiet)

.PHONY: all demo test test-all test-aarch64 test-deb bench tables wheel deb site lint fuzz install uninstall clean setup
all: $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD)
	@[ -z "$$PREFIX" ] || printf '%s\n' "$$PREFIX" >$(BUILD)/prefix

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo "meson is missing: 'make demo' installs what is needed" >&2; exit 1; }
	@meson setup $(BUILD) $(OPTIONS) >$(BUILD).setup.log 2>&1 || { cat $(BUILD).setup.log >&2; rm -f $(BUILD).setup.log; exit 1; }
	@rm -f $(BUILD).setup.log

demo:
	@tools/setup.sh $(BUILD)
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD) program
	$(BUILD)/deepclock bench zoo:resnet18

test:
	@tools/setup.sh $(BUILD) test
	@$(MAKE) --no-print-directory $(if $(TESTS),$(BUILD)/build.ninja,all)
	@python3 tools/run_tests.py $(BUILD) $(TESTS)

test-all:
	@tools/setup.sh $(BUILD) test extras packages
	@tools/setup.sh $(BUILD) test extras & fetching=$$!; \
	$(MAKE) --no-print-directory all; built=$$?; wait $$fetching && exit $$built
	@python3 tools/run_tests.py $(BUILD) --all

test-aarch64:
	@tools/setup.sh $(BUILD) test $(if $(CI),extras packages)
	@tools/aarch64.sh

bench:
	@tools/setup.sh $(BUILD)
	@$(MAKE) --no-print-directory all
	@python3 bench/table.py $(BUILD) $(if $(QUICK),--quick) --json $(BUILD)/bench.json --html $(BUILD)/bench.html $(BENCH)

tables: all
	@sed -n 's|^    build/\(tests/accuracy/.*\)|$(BUILD)/\1|p; s|^    \(/usr/bin/python3 bench/.*\)|\1|p' docs/reference/validation.md | \
	while IFS= read -r command; do \
		printf '\n    %s\n\n' "$$command"; sh -c "$$command" </dev/null || exit 1; done

wheel:
	@PYTHONPATH=$(BUILD)/auditwheel:$(BUILD)/ziglang python3 tools/wheel.py \
		$(if $(WHEEL_ARCH),--machine $(WHEEL_ARCH)) $(BUILD)/wheel$(if $(WHEEL_ARCH),-$(WHEEL_ARCH))
	$(if $(WHEEL_ARCH),@python3 tests/install/wheel_in_qemu.py $(BUILD)/wheel-$(WHEEL_ARCH))

deb:
	@tools/deb.sh $(BUILD)/deb

test-deb:
	@tools/setup.sh $(BUILD) test $(if $(CI),extras packages)
	@$(MAKE) --no-print-directory deb
	@python3 tests/install/bare_root.py $(BUILD) deb $(BUILD)/deb

site: all
	@PYTHONPATH=$(BUILD)/mkdocs:$(BUILD)/python /usr/bin/python3 tools/site.py $(BUILD)/site

lint:
	@tools/setup.sh $(BUILD) test $(if $(CI),extras packages)
	@tools/lint.sh

# Without clang there is no libFuzzer; the tests replay the corpus all the same.
fuzz:
	@command -v clang >/dev/null || { echo "skipped: clang is not installed"; [ -z "$$CI" ]; exit; }; \
	{ [ -f build-fuzz/build.ninja ] || CC=clang meson setup build-fuzz -Doptimization=1 \
		-Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args='-g1 -fsanitize=fuzzer-no-link,float-cast-overflow -fno-sanitize-recover=all' >/dev/null; } && \
	$(NINJA) -C build-fuzz fuzzers && python3 tools/fuzz.py build-fuzz $(SECONDS)

install: all
	@python3 tools/install.py $(BUILD) install

uninstall:
	@python3 tools/install.py $(BUILD) uninstall

clean:
	rm -rf build build-*
