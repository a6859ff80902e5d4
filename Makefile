sources := $(shell find Package.swift Sources Collector Examples Tests -name '*.swift' -not -path '*/Generated/*')

.PHONY: demo test agent ci verify dist faults soak sanitize fuzz check lint format bench docs man setup

demo:
	@scripts/setup.sh demo
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	scripts/build.sh --build-tests
	@scripts/tests.py agent collector system parity

# The agent's tests, and a build of all others.
agent:
	@scripts/setup.sh test
	scripts/build.sh --build-tests
	@scripts/tests.py agent

# What CI runs after README's two commands.
ci:
	@scripts/setup.sh verify
	scripts/build.sh --build-tests
	@scripts/steps.sh 'scripts/tests.py page tools contract faults' scripts/docs.py scripts/check-api.py 'scripts/sanitize.sh thread'

verify: lint
	@scripts/setup.sh verify
	scripts/build.sh --build-tests
	swift build --package-path Examples/Recipes --scratch-path .build/recipes
	@scripts/steps.sh 'scripts/tests.py agent collector system parity' \
		'scripts/tests.py page tools contract faults clickhouse end-on-clickhouse recipes prometheus database consumer urlsession fuzzing disks chdb' \
		'scripts/tests.py cluster' \
		scripts/check-demo.py scripts/docs.py scripts/check-api.py scripts/man.sh scripts/check-deploy.sh 'scripts/soak.sh 5000 300' scripts/sanitize.sh \
		'make dist && scripts/check-dist.sh || [[ $$? == 69 ]]' \
		'scripts/fresh-machine.sh --toolchain debian agent || [[ $$? == 69 ]]' 'scripts/aarch64.sh || [[ $$? == 69 ]]'

# Packages of the collector for this machine's architecture, in .build/packages.
dist:
	@scripts/setup.sh dist
	@scripts/dist.sh

faults:
	@scripts/setup.sh verify
	scripts/build.sh --build-tests
	@scripts/steps.sh 'scripts/tests.py faults-full faults-urlsession' scripts/outage.sh scripts/overload.sh

soak:
	@scripts/setup.sh verify
	@scripts/soak.sh

sanitize:
	@scripts/setup.sh verify
	@scripts/sanitize.sh

fuzz:
	@scripts/setup.sh
	@scripts/fuzz.sh

check: lint
	scripts/check-build.sh
	scripts/docs.py
	scripts/check-api.py

lint:
	@scripts/setup.sh check
	@swift format lint --strict --parallel $(sources)
	scripts/check-sources.sh
	scripts/check-layers.py
	scripts/check-paths.py
	scripts/check-docs.py
	scripts/check-consumer-graph.sh

format:
	@swift format --in-place --parallel $(sources)

bench: setup
	@Benchmarks/run.sh

docs:
	@scripts/setup.sh check
	scripts/build.sh --target Martlet
	@scripts/docs.py

man: setup
	@scripts/man.sh

setup:
	@scripts/setup.sh
