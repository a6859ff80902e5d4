sources := $(shell find Package.swift Sources Collector Examples Tests -name '*.swift' -not -path '*/Generated/*')

# The flags of scripts/check-build.sh. Other ones would build much of it again.
build_tests := swift build --build-tests --disable-xctest --explicit-target-dependency-import-check error

.PHONY: demo test faults soak sanitize fuzz check lint format bench docs man setup

demo:
	@scripts/setup.sh demo
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	scripts/check-deploy.sh
	$(build_tests)
	scripts/run-tests.sh --filter '^Martlet(OTLP|Telemetry)?Tests\.'
	scripts/run-tests.sh --filter '^CollectorTests\.'
	MARTLET_TEST_STORE=clickhouse scripts/run-tests.sh --filter \
		'StorageContractTests|EndToEndTests.(Chain|ReportTruth)Tests|PageTests/pageCommandAndAPI'
	scripts/run-tests.sh --filter EndToEndTests --skip ConsumerTests
	scripts/run-tests.sh --filter ConsumerTests
	scripts/run-tests.sh --filter '^FaultTests\.'
	scripts/run-tests.sh --filter ParityTests
	MARTLET_TRANSPORT=urlsession scripts/run-tests.sh \
		--filter 'AgentTests/|FaultTests/(Answer|Proxy)Tests|EndToEndTests.OutageTests'
	scripts/soak.sh 5000 300

faults:
	@scripts/setup.sh test
	$(build_tests)
	MARTLET_FAULTS=full scripts/run-tests.sh --filter '^FaultTests\.'
	MARTLET_FAULTS=full MARTLET_TRANSPORT=urlsession scripts/run-tests.sh --filter '^FaultTests\.' --skip ClickHouse
	MARTLET_TEST_STORE=chdb scripts/run-tests.sh --filter \
		'StorageContractTests|ClickHouseStorageTests|CumulativePassTests|EarlyHoursTests|\.CopyTests'
	MARTLET_TEST_STORE=clickhouse-cluster scripts/run-tests.sh --filter \
		'StorageContractTests|ClickHouseStorageTests|CumulativePassTests|EarlyHoursTests|\.CopyTests'
	MARTLET_TEST_STORE=clickhouse scripts/run-tests.sh --filter EndToEndTests --skip ConsumerTests
	swift build --package-path Examples/Recipes --scratch-path .build/recipes
	MARTLET_RECIPES=.build/recipes/debug scripts/run-tests.sh --filter RecipeTests
	scripts/outage.sh
	scripts/overload.sh

soak:
	@scripts/setup.sh test
	@scripts/soak.sh

sanitize:
	@scripts/setup.sh test
	@scripts/sanitize.sh

fuzz:
	@scripts/setup.sh
	@scripts/fuzz.sh

check: lint
	scripts/check-build.sh
	scripts/docs.py

lint:
	@scripts/setup.sh check
	@swift format lint --strict --parallel $(sources)
	scripts/check-sources.sh
	scripts/check-layers.py
	scripts/check-consumer-graph.sh

format:
	@swift format --in-place --parallel $(sources)

bench: setup
	@Benchmarks/run.sh

docs:
	@scripts/setup.sh check
	swift build --target Martlet
	@scripts/docs.py

man: setup
	@scripts/man.sh

setup:
	@scripts/setup.sh
