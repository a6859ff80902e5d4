import Testing

@testable import MartletFindings

/// What is never normal, whatever was before.
@Suite struct UnusualEventTests {
    private let orders = SampleFleet.Traffic.server("orders")
    private let call = SampleFleet.Traffic.client("orders", to: "files", "/files/{name}")

    private func process(_ instance: String, _ version: String = "1") -> ProcessIdentity {
        ProcessIdentity(service: "orders", version: version, instance: instance)
    }

    /// A report of each minute, with memory in MiB.
    private func report(_ minute: Int, memory: Double = 80) -> ReportedProcess {
        let seconds = Double((SampleFleet.begin + minute) * 60 + 55)
        return ReportedProcess(process: process("a"), lastSeen: seconds, memory: memory)
    }

    @Test func processesThatEndAreFoundWithTheirCause() throws {
        var fleet = SampleFleet()
        fleet.play(30, [orders]) { minute, fleet in
            guard minute >= 20, minute % 2 == 0 else { return }
            let slot = SampleFleet.slot(minute)
            fleet.ends = [ProcessEnd(process: process("a\(minute)"), slot: slot, cause: "SIGILL at main.swift:41")]
        }
        let finding = try #require(fleet.findings().first)
        #expect(finding.kind == .ended && finding.subject == FindingSubject(service: "orders"))
        #expect(finding.since == SampleFleet.slot(20) && finding.cost.processes == 5)
        #expect(finding.title.contains("5 times") && finding.title.contains("SIGILL at main.swift:41"))
    }

    @Test func hungRequestsAreFoundAndBeganFiveMinutesBefore() throws {
        var fleet = SampleFleet()
        fleet.play(20, [orders])
        fleet.play(2, [orders.with { $0.hung = 1 }])
        let finding = try #require(fleet.findings().first)
        #expect(finding.kind == .hung && finding.subject == orders.row.subject)
        #expect(finding.since == SampleFleet.slot(15) && finding.cost.requests == 12)
    }

    @Test func serviceThatFallsSilentIsFoundAndIsOverWhenItReports() throws {
        var fleet = SampleFleet()
        fleet.play(20, [orders]) { $1.processes = [report($0)] }
        fleet.play(5, [])
        let finding = try #require(fleet.findings().first { $0.kind == .silent })
        #expect(finding.isOpen && finding.since == SampleFleet.slot(20) - 1)
        fleet.play(1, [orders]) { $1.processes = [report($0)] }
        #expect(fleet.findings().first { $0.kind == .silent }?.isOpen == false)
    }

    @Test func lostRequestsAreCounted() throws {
        var fleet = SampleFleet()
        fleet.play(30, [orders]) { minute, fleet in
            guard minute >= 28 else { return }
            fleet.losses = [LostRequests(service: "orders", slot: SampleFleet.slot(minute), count: 10)]
        }
        let finding = try #require(fleet.findings().first)
        #expect(finding.kind == .lost && finding.title == "20 requests of orders were recorded and lost")
    }

    @Test func longWaitsForAThreadAreFound() throws {
        var fleet = SampleFleet()
        fleet.play(30, [orders]) { minute, fleet in
            let seconds = minute == 25 ? 1.1 : 0.004
            fleet.waits = [ThreadWait(service: "orders", slot: SampleFleet.slot(minute) + 2, seconds: seconds)]
        }
        let finding = try #require(fleet.findings().first)
        #expect(finding.kind == .starved && finding.since == SampleFleet.slot(25) + 2 && !finding.isOpen)
    }

    @Test func findingOfProcessesLeadsToTheProcessesOfItsService() throws {
        var fleet = SampleFleet()
        fleet.play(30, [orders]) { minute, fleet in
            let seconds = minute == 25 ? 1.1 : 0.004
            fleet.waits = [ThreadWait(service: "o'r", slot: SampleFleet.slot(minute) + 2, seconds: seconds)]
        }
        let finding = try #require(fleet.findings().first)
        #expect(finding.command.hasPrefix(#"martlet-collector agents --service 'o'\''r' --since 20"#))
        #expect(finding.page.hasPrefix("/agents?service=o%27r&since=20"))
        #expect(!finding.command.contains("--until") && !finding.page.contains("until="))
    }

    @Test(arguments: [(0.0, []), (1.0, [FindingKind.memory])])
    func memoryThatGrowsIsFound(growth: Double, expected: [FindingKind]) {
        var fleet = SampleFleet()
        fleet.play(40, [orders]) { minute, fleet in
            // A cache fills, and memory goes up and down.
            let usual = 80 + 5 * min(Double(minute) / 4, 1) + [0, 1, -1, 2][minute % 4]
            fleet.processes = [report(minute, memory: usual + growth * Double(minute))]
        }
        #expect(fleet.findings().map(\.kind) == expected)
    }

    @Test func statusThatWasNeverSeenIsFound() throws {
        var fleet = SampleFleet()
        let refused = orders.with { ($0.failing, $0.status) = (0.05, 402) }
        fleet.play(30, [orders])
        fleet.play(3, [refused])
        let finding = try #require(fleet.findings().first)
        #expect(finding.kind == .newError && finding.what.map(\.value) == ["402"])
        #expect(try #require(finding.since) - SampleFleet.slot(30) < 6)
    }

    @Test func statusOfEveryDayIsNoNewError() {
        var fleet = SampleFleet()
        fleet.play(40, [orders.with { ($0.failing, $0.status) = (0.01, 402) }])
        #expect(fleet.findings().isEmpty)
    }

    @Test func endpointThatMakesManyRequestsIsFound() throws {
        var fleet = SampleFleet()
        fleet.play(40, [orders, call])
        fleet.play(9, [orders, call.with { $0.rate = 400 }])
        let finding = try #require(fleet.findings().first { $0.kind == .calls })
        #expect(finding.subject == orders.row.subject)
        #expect(abs(try #require(finding.since) - SampleFleet.slot(40)) <= 6)
        #expect(finding.title.contains("makes 20 requests to POST /files/{name}"))
    }

    @Test func failingCallThatIsRepeatedIsFound() throws {
        var fleet = SampleFleet()
        fleet.play(40, [orders, call])
        fleet.play(10, [orders, call.with { ($0.rate, $0.failing) = (60, 0.9) }])
        let finding = try #require(fleet.findings().first)
        #expect(finding.kind == .retries && finding.subject == orders.row.subject)
    }
}
