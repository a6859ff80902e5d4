sources := $(shell find Package.swift Sources Collector Examples Tests -name '*.swift' -not -path '*/Generated/*')

# Swift Testing starts all tests at once by default. On two cores a test then waits seconds for its turn.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH := 4

.PHONY: demo test faults soak sanitize fuzz check format bench man setup

demo:
	@scripts/setup.sh demo
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	scripts/check-deploy.sh
	swift build --build-tests --disable-xctest
	swift test --disable-xctest --skip-build --filter '^Martlet(OTLP|Telemetry)?Tests\.'
	swift test --disable-xctest --skip-build --filter '^CollectorTests\.'
	swift test --disable-xctest --skip-build --filter EndToEndTests --skip ConsumerTests
	swift test --disable-xctest --skip-build --filter ConsumerTests
	swift test --disable-xctest --skip-build --filter '^FaultTests\.'
	swift test --disable-xctest --skip-build --filter ParityTests
	MARTLET_TRANSPORT=urlsession swift test --disable-xctest --skip-build \
		--filter 'AgentTests/|FaultTests/(Answer|Proxy)Tests|EndToEndTests.OutageTests'
	scripts/soak.sh 5000

faults:
	@scripts/setup.sh test
	swift build --build-tests --disable-xctest
	MARTLET_FAULTS=full swift test --disable-xctest --skip-build --filter '^FaultTests\.'
	MARTLET_FAULTS=full MARTLET_TRANSPORT=urlsession swift test --disable-xctest --skip-build --filter '^FaultTests\.'
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

check:
	@scripts/setup.sh check
	@swift format lint --strict --parallel $(sources)
	scripts/check-sources.sh
	scripts/check-layers.py
	scripts/check-consumer-graph.sh
	scripts/check-build.sh

format:
	@swift format --in-place --parallel $(sources)

bench: setup
	@Benchmarks/run.sh

man: setup
	@scripts/man.sh

setup:
	@scripts/setup.sh
