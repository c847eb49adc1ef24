# `make test` is the whole gate, `make update` rewrites what is generated, `make demo` shows the main job.
.PHONY: demo test update check prepare parity bench soak grid conformance

CARGO ?= cargo
INJECTED := crates/engine/injected
CLIENTS := crates/testkit/clients
# What the tests of end-to-end testing start.
APPS := crates/testkit/apps
# The Selenium Grid of the tests.
GRID := crates/testkit/grid
# The authorization server of the tests.
OAUTH := crates/playhouse/tests/oauth

# An MCP client drives the built server over stdio through the example shop; SESSIONS=8 shows that many sessions at once, E2E=1 an app
# under test, which the server starts.
demo: prepare
	$(CARGO) build --locked -p playhouse -p testkit
	$(if $(SESSIONS),target/debug/sessions $(SESSIONS),target/debug/demo $(if $(E2E),--e2e))

test: check
	$(CARGO) test --locked --workspace --no-fail-fast

# What needs no browser: format, lints, the page side's types.
check: prepare
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	npm --prefix $(INJECTED) run --silent check

# Rewrites the bundles, the generated documents, and the replies of specs; read the diff.
update: prepare
	$(CARGO) fmt --all
	npm --prefix $(INJECTED) run --silent build
	UPDATE_EXPECT=1 $(CARGO) test --workspace

# The same calls to us and to the npm package, answers compared. PARITY=text plays only some scenarios.
parity: prepare target/oracle/node_modules/@playwright/mcp/cli.js
	$(CARGO) build --locked -p playhouse -p testkit
	target/debug/parity crates/testkit/parity -- target/debug/playhouse --toolsets browser \
	  -- node $(CURDIR)/target/oracle/node_modules/@playwright/mcp/cli.js

# The official suite of the Model Context Protocol asks the server as it is, and then, for everything, one with the suite's own fixtures.
conformance: prepare
	$(CARGO) build --locked -p playhouse -p testkit
	$(CARGO) clippy --locked -p playhouse --features conformance --example conformance -- -D warnings
	$(CARGO) build --locked -p playhouse --features conformance --example conformance
	target/debug/conformance target/debug/playhouse target/debug/examples/conformance

target/oracle/node_modules/@playwright/mcp/cli.js:
	npm install --silent --no-audit --no-fund --prefix target/oracle @playwright/mcp@0.0.83

# What calls cost, beside the floor and two peers; ARGS="--rounds 1 --only click --servers pw,ours" for a quick look.
# Everything goes to docs/benchmarks.md: make bench ARGS="--output docs/benchmarks.md", where nothing else runs.
bench: prepare
	$(CARGO) build --locked --release -p playhouse -p testkit
	npm install --silent --no-audit --no-fund --prefix target/bench/peers \
	  @playwright/mcp@0.0.83 agent-browser@0.41.2 gpt-tokenizer@4.0.0
	target/release/bench $(ARGS)

# Ten thousand calls of mixed work in one server; fails when it needs more at the end than early on. The table in docs/soak.md is that
# of make soak ARGS="10000 --output docs/soak.md".
# make soak SESSIONS=2000: that many sessions, 16 at a time, and nothing left of them.
soak: prepare
	$(CARGO) build --locked --release -p playhouse -p testkit
	$(if $(SESSIONS),target/release/sessions --soak $(SESSIONS),target/release/soak $(ARGS))

# What a Selenium Grid costs, beside browsers that the server starts itself: the table of docs/scaling.md.
grid: prepare
	$(CARGO) build --locked --release -p playhouse -p testkit
	target/release/grid

# Installs what is missing, where it knows how.
NODE_MODULES := $(INJECTED)/node_modules/.package-lock.json $(CLIENTS)/node_modules/.package-lock.json \
  $(OAUTH)/node_modules/.package-lock.json $(APPS)/node_modules/.package-lock.json \
  $(GRID)/node_modules/.package-lock.json

prepare: $(NODE_MODULES) $(CLIENTS)/python/ready $(GRID)/bin/geckodriver
	@.ci/prepare

$(NODE_MODULES): %/node_modules/.package-lock.json: %/package-lock.json
	npm --prefix $* ci --silent --no-audit --no-fund
	@touch $@

$(CLIENTS)/python/ready: $(CLIENTS)/requirements.txt
	@.ci/python $(CLIENTS)/python
	$(CLIENTS)/python/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# Nobody else packages it.
$(GRID)/bin/geckodriver:
	$(CARGO) install --quiet --debug --locked --root $(GRID) --version 0.37.1 geckodriver
