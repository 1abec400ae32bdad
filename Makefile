# SPDX-License-Identifier: GPL-3.0-or-later
# The commands everybody types. The build itself is CMake's; its presets are in CMakePresets.json.
PREFIX ?= /usr/local

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

demo: release ## build, and protect the tables of a small country
	@tools/demo build/release

papers: release ## the papers' tables and figures, printed numbers beside ours; DATA=DIR
	@examples/papers/reproduce $(if $(DATA),--data "$(DATA)") papers-output

check: ## build, unit tests, command line, structure and layout: for every day
	@tools/bootstrap build check
	@tools/test format quick

test: ## every check that decides whether a change is good
	@tools/bootstrap build check docs
	@tools/bootstrap browser || echo "make test: NO CHROMIUM: the page of the table builder will not be tried in a browser" >&2
	@tools/test

test-long: ## longer checks, results to docs/test-long.md; STEPS="storms fuzz ..."
	@tools/bootstrap build check
	@tools/test-long $(STEPS)

bench: ## measure speed and memory against the floor and other tools; LARGE=1: large stores alone
	@tools/bootstrap build
	@cmake --preset bench >/dev/null && cmake --build --preset bench -- --quiet
	@tools/bench build/bench $(if $(LARGE),store_large)

coverage: ## measure the coverage of every kind of interval, TABLES=1000 of each
	@tools/bootstrap build check
	@cmake --preset dev >/dev/null && cmake --build --preset dev --target test_coverage test_cube_coverage -- --quiet
	@build/dev/tests/property/test_coverage $${TABLES:-1000}
	@build/dev/tests/property/test_cube_coverage $${TABLES:-1000}

fuzz: ## every fuzzer searches, SECONDS=60 each
	@tools/bootstrap build check
	@tools/test --fuzz-seconds $${SECONDS:-60} fuzz

crash: ## ledgers, plans, vaults and servers under fire: KILLS=1000 kills each, failing disks, power cuts
	@tools/bootstrap build check
	@cmake --preset dev >/dev/null && cmake --build --preset dev -- --quiet
	@python3 tests/crash/ledger_storm.py build/dev/tests/crash/ledger_spender \
	    build/dev/tests/crash/libledger_fault.so build/dev/cellar --kills $${KILLS:-1000}
	@python3 tests/crash/plan_kills.py $(CURDIR)/build/dev/tests/crash/kill_at \
	    $(CURDIR)/build/dev/cellar --kills $${KILLS:-1000}
	@python3 tests/crash/vault_storm.py build/dev/tests/crash/vault_caller \
	    build/dev/tests/crash/libledger_fault.so build/dev/cellar --kills $${KILLS:-1000}
	@python3 tests/crash/server_storm.py build/dev/tests/crash/vault_caller build/dev/cellar \
	    --kills $${KILLS:-1000}
	@python3 tests/crash/power_cut.py build/dev --random 40

requests: ## random requests to a whole server under AddressSanitizer, REQUESTS=100000, SEED=22
	@tools/bootstrap build check
	@cmake --preset failalloc >/dev/null && cmake --build --preset failalloc --target test_serve_random -- --quiet
	@build/failalloc/tests/unit/test_serve_random $${REQUESTS:-100000} $${SEED:-22} | grep requests:

mutants: ## break what matters in one place at a time, and expect a test to notice; ONLY=REGEX
	@tools/bootstrap build check
	@tools/mutants $(if $(ONLY),"$(ONLY)")

net: ## every bound that was once proved, against today's certificates
	@tools/bootstrap build check
	@cmake --preset dev >/dev/null && cmake --build --preset dev --target test_net -- --quiet
	@build/dev/tests/net/test_net tests/net/data

check-jsonstat: ## compare our JSON-stat with npm's jsonstat-toolkit
	@tools/bootstrap build check
	@cmake --preset dev >/dev/null && cmake --build --preset dev --target write_sample -- --quiet
	@tests/interop/check_jsonstat build/dev

check-parquet: ## compare what we count in Parquet files by DuckDB, of all types and compressions, with CSV
	@tools/bootstrap build check
	@cmake --preset dev >/dev/null && cmake --build --preset dev --target cellar -- --quiet
	@tests/interop/check_parquet.py build/dev

check-server: ## compare what clients of PxWeb and SDMX read from our server with the command line
	@tools/bootstrap build check
	@cmake --preset dev >/dev/null && cmake --build --preset dev --target cellar cellar-server -- --quiet
	@tests/interop/check_server.py build/dev

packages-memory: ## the packages for R and Python under AddressSanitizer, R's examples under gctorture2; STEP=20
	@tools/bootstrap build check
	@tools/packages-memory $(STEP)

databases: ## 200 random tables counted by six databases, by ODBC too, by several servers, and faults
	@tools/bootstrap build check databases
	@command -v npm >/dev/null || tools/bootstrap web
	@cmake --preset dev >/dev/null && cmake --build --preset dev --target cellar -- --quiet
	@set -e; for engine in sqlite odbc-sqlite postgresql odbc-postgresql mariadb clickhouse; do \
	    python3 tests/engine/compare.py build/dev/cellar $$engine $${QUESTIONS:-200}; \
	    python3 tests/engine/faults.py build/dev/cellar $$engine; done
	@set -e; for engine in postgresql-three clickhouse-two duckdb; do \
	    python3 tests/engine/compare.py build/dev/cellar $$engine $${QUESTIONS:-200}; done
	@python3 tests/engine/syntax.py build/dev/cellar $${QUESTIONS:-200} || [ $$? -eq 77 ]

chroot: ## build and test with a newer Debian, RELEASE=trixie or forky, in a chroot; needs root and debootstrap
	@tools/chroot-test $${RELEASE:-trixie}

partials: ## 100 million rows counted by eight processes, their tables merged, and by one
	@tools/bootstrap build
	@cmake --preset bench >/dev/null && cmake --build --preset bench --target cellar make_people -- --quiet
	@tests/engine/partials.sh build/bench/cellar build/bench/bench/make_people $${ROWS:-100000000}

format: ## lay the code out as clang-format decides
	@tools/bootstrap check
	@git ls-files -z --cached --others --exclude-standard '*.c' '*.h' | xargs -0 clang-format -i

docs: ## make a web site of the documentation in build/site
	@tools/bootstrap docs
	@tools/docs

web: ## build the page of the table builder in build/web; needs npm
	@tools/web

screenshots: ## pictures of the page for docs/, by chromium
	@tools/bootstrap build browser
	@tools/web
	@cmake --preset dev >/dev/null && cmake --build --preset dev --target cellar cellar-server -- --quiet
	@node web/tests/screenshots.mjs docs/pictures

install: release ## install under PREFIX=/usr/local (DESTDIR is honoured); after make web with the page
	@cmake --install build/release --prefix "$(PREFIX)" >/dev/null
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi # for programs that use the library
	@case ":$$PATH:" in *:"$(PREFIX)/bin":*) ;; *) echo "put $(PREFIX)/bin into your PATH" ;; esac
	@echo "installed: $(DESTDIR)$(PREFIX)/bin/cellar; begin with: cellar help"

release: ## build the program and the libraries in build/release
	@if [ -e build ] && [ ! -w build ]; then echo "build/ belongs to another user (sudo make install?): sudo rm -r build" >&2; exit 1; fi
	@tools/bootstrap build
	@cmake --preset release >/dev/null
	@echo "compiling Cellar (a few minutes the first time)"
	@if [ -t 1 ]; then cmake --build --preset release; else cmake --build --preset release -- --quiet; fi

deb: ## Debian packages in build/deb; needs debhelper and lintian
	@tools/bootstrap build deb
	@tools/web
	@tools/deb

tarball: ## a folder that runs wherever it is unpacked, as build/cellar-VERSION-MACHINE.tar.gz
	@tools/bootstrap build tarball
	@tools/web
	@tools/tarball

clean: ## remove everything built
	rm -rf build demo-output papers-output

.PHONY: help demo papers check test test-long bench coverage fuzz crash requests mutants net check-jsonstat check-parquet format check-server packages-memory databases chroot partials docs web screenshots install release deb tarball clean
