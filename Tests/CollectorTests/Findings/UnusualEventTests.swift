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

    /// The end of a process at the beginning of a minute.
    private func end(
        _ minute: Int, _ version: String = "1", cause: String? = "SIGILL at main.swift:41",
        during endpoint: String? = nil
    ) -> ProcessEnd {
        ProcessEnd(
            process: process("a\(minute)", version), time: FindingTime.time(SampleFleet.slot(minute)), cause: cause,
            endpoint: endpoint)
    }

    /// Each end is read again with all later minutes, and counts once.
    @Test func processesThatEndAreFoundWithTheirCauseAndWhatWasInFlight() throws {
        var fleet = SampleFleet()
        fleet.play(30, [orders]) { minute, fleet in
            fleet.ends = (20..<30).filter { $0 <= minute && $0 % 2 == 0 }.map {
                end($0, during: $0 == 24 ? "POST /orders" : "GET /files/{name}")
            }
        }
        let finding = try #require(fleet.findings().first)
        #expect(finding.kind == .ended && finding.subject == FindingSubject(service: "orders"))
        #expect(finding.since == SampleFleet.slot(20) && finding.cost.processes == 5)
        let since = FindingTime.clock(SampleFleet.slot(20))
        #expect(
            finding.title == "orders ended without shutdown 5 times since \(since) "
                + "(SIGILL at main.swift:41, 4 of 5 during GET /files/{name})")
        #expect(finding.what == [FailureForm(dimension: .cause, value: "SIGILL at main.swift:41", count: 5)])
    }

    /// A service that does not handle SIGTERM is killed with each deployment. The same happens to the new version's process.
    @Test(arguments: ["1", "2"])
    func killedProcessOfTheVersionBeforeADeploymentIsNoFinding(version: String) {
        var fleet = SampleFleet()
        fleet.play(30, [orders]) { minute, fleet in
            let reports = process("a", minute < 20 ? "1" : "2")
            fleet.processes = [
                ReportedProcess(process: reports, lastSeen: Double(fleet.minute * 60 + 50), memory: nil)
            ]
            var killed = end(20, version, cause: "killed")
            killed.mayBeStop = true
            fleet.ends = minute < 20 ? [] : [killed]
        }
        #expect(fleet.findings().map(\.kind) == (version == "1" ? [] : [.ended]))
    }

    @Test func processesThatEndAreAFindingWhileWhatTheirServiceCallsFails() {
        var fleet = SampleFleet()
        let called = [SampleFleet.Traffic.client("orders", to: "stock"), .server("stock")]
        fleet.play(27, [orders] + called) { minute, fleet in
            fleet.ends = (22..<27).filter { $0 <= minute }.map { end($0) }
        }
        fleet.play(8, [orders] + called.map { $0.failing(0.6) })
        #expect(Set(fleet.findings().map(\.kind)) == [.ended, .failing])
    }

    // MARK: The same trouble for another reason

    /// Requests to orders fail for five minutes, and a quarter of an hour later for another reason.
    private struct TroubledTwice {
        let served = SampleFleet.Traffic.server("orders")
        let call = SampleFleet.Traffic.client("shop", to: "orders")
        let shop = SampleFleet.Traffic.server("shop", "/cart")
        var fleet = SampleFleet()

        mutating func play(_ minutes: Int, failing share: Double, ends: @escaping (Int) -> [ProcessEnd]) {
            fleet.play(minutes, [served, call.failing(share), shop.failing(share)]) { $1.ends = ends($0) }
        }
    }

    @Test func failuresThatComeBackWithACrashAreAnotherFinding() throws {
        var trouble = TroubledTwice()
        trouble.play(40, failing: 0) { _ in [] }
        trouble.play(5, failing: 0.8) { _ in [] }
        let first = try #require(trouble.fleet.findings().first)
        trouble.play(15, failing: 0) { _ in [] }
        // The new process reports the end two minutes later.
        trouble.play(6, failing: 0.8) { minute in minute >= 62 ? [end(60)] : [] }
        let findings = trouble.fleet.findings()
        #expect(Set(findings.map(\.kind)) == [.failing, .ended])
        let before = try #require(findings.first { $0.kind == .failing })
        #expect(before.id == first.id && before.since == first.since && !before.isOpen)
        #expect(abs(try #require(before.until) - SampleFleet.slot(45)) <= 6)
        let crash = try #require(findings.first { $0.kind == .ended })
        #expect(crash.id != first.id && crash.isOpen && crash.since == SampleFleet.slot(60))
        #expect(crash.also.contains(trouble.call.row.subject))
    }

    @Test func failuresThatComeBackAfterACrashAreAnotherFinding() throws {
        var trouble = TroubledTwice()
        trouble.play(40, failing: 0) { _ in [] }
        trouble.play(5, failing: 0.8) { _ in [end(40)] }
        let crash = try #require(trouble.fleet.findings().first)
        #expect(crash.kind == .ended)
        trouble.play(20, failing: 0) { _ in [end(40)] }
        trouble.play(5, failing: 0.8) { _ in [end(40)] }
        let findings = trouble.fleet.findings()
        #expect(findings.count == 2)
        let again = try #require(findings.first { $0.id != crash.id })
        #expect(again.kind == .failing && again.isOpen)
        #expect(abs(try #require(again.since) - SampleFleet.slot(65)) <= 6)
    }

    // MARK: Ends

    @Test func causesOfEndsAreCountedAndUnknownOnesAreNotNamed() throws {
        var fleet = SampleFleet()
        fleet.play(23, [orders]) { minute, fleet in
            let causes = [20: "killed by SIGKILL", 21: "killed by SIGKILL", 22: "out of memory"]
            if let cause = causes[minute] { fleet.ends = [end(minute, cause: cause)] }
        }
        let finding = try #require(fleet.findings().first)
        #expect(finding.title.hasSuffix("(killed by SIGKILL in 2 of 3)"))
        #expect(finding.what.map(\.value) == ["killed by SIGKILL", "out of memory"])
        var unknown = SampleFleet()
        unknown.play(21, [orders]) { if $0 == 20 { $1.ends = [end(20, cause: nil)] } }
        #expect(unknown.findings().first?.title.contains("(") == false)
    }

    /// The process that reports the first end starts after the one that reports the second.
    @Test func endThatIsReportedLateMovesTheBeginning() throws {
        var fleet = SampleFleet()
        fleet.play(30, [orders]) { minute, fleet in
            if minute == 21 { fleet.ends = [end(20)] }
            if minute == 25 { fleet.ends = [end(17)] }
        }
        let finding = try #require(fleet.findings().first)
        #expect(finding.since == SampleFleet.slot(17) && finding.cost.processes == 2)
    }

    @Test func versionWhoseProcessesEndIsNamedIfAnotherLives() throws {
        var fleet = SampleFleet()
        fleet.play(30, [orders]) { minute, fleet in
            fleet.processes = [report(minute)]
            guard minute >= 20 else { return }
            let version = process("b\(minute)", "2")
            fleet.processes.append(
                ReportedProcess(process: version, lastSeen: report(minute).lastSeen, memory: nil))
            fleet.ends = [end(minute, "2")]
        }
        let finding = try #require(fleet.findings().first { $0.kind == .ended })
        #expect(finding.who.map(\.dimension) == [.version] && finding.who.map(\.value) == ["2"])
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

    /// The services of a host whose CPUs are all taken.
    @Test func waitsOfABusyHostAreNoFinding() {
        var fleet = SampleFleet()
        fleet.play(30, [orders]) { minute, fleet in
            fleet.waits = [ThreadWait(service: "orders", slot: SampleFleet.slot(minute) + 2, seconds: 0.092)]
        }
        #expect(fleet.findings().isEmpty)
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
        #expect(finding.title.contains(#/makes (19|20|21) requests to POST /files/\{name\}/#))
    }

    /// A page of a shop asks for the reviews of one product, and a new version of its list for those of ten.
    @Test(arguments: 1...30)
    func endpointThatMakesManyRequestsIsFoundAmongFive(seed: UInt64) {
        let rates = ["/": 30.0, "/products/{id}": 40, "/checkout": 20, "/orders/{id}": 10, "/stock": 3]
        let served = rates.sorted { $0.key < $1.key }.map {
            SampleFleet.Traffic.server("orders", $0.key, rate: $0.value)
        }
        var fleet = SampleFleet(seed: seed)
        var named: [Set<String?>] = []
        for minute in 0..<55 {
            let list: UInt32 = minute < 40 ? 0 : 10
            fleet.play(1, served + [call]) { _, fleet in
                let rows = fleet.rows
                let products = rows.first { $0.row.endpoint == "/products/{id}" }
                let lists = rows.first { $0.row.endpoint == "/" }
                for slot in 0..<6 {
                    fleet.rows[served.count].slots[slot].requests =
                        (products?.slots[slot].requests ?? 0) + list * (lists?.slots[slot].requests ?? 0)
                }
            }
            named.append(Set(fleet.findings().filter { $0.kind == .calls }.map(\.subject.endpoint)))
        }
        #expect(named.allSatisfy { $0.isSubset(of: ["/"]) } && named.last == ["/"])
    }

    /// The server does not say by which host it was called, and names the changing part of its path differently.
    @Test func failuresOfAServiceAndItsCallerAreOneFindingIfSpansShowTheCall() throws {
        var fleet = SampleFleet()
        var files = SampleFleet.Traffic.server("files", "/files/{id}")
        files.row.host = nil
        fleet.play(30, [orders, call, files]) { $1.callees = ["files:80": ["files"]] }
        fleet.play(5, [orders.failing(0.9), call.failing(0.9), files.failing(0.9)])
        let finding = try #require(fleet.findings().first)
        #expect(fleet.findings().count == 1 && finding.subject == files.row.subject)
    }

    /// The called service crashes and fails for some time before, and the calls are many from a new version on.
    @Test func manyRequestsAreFoundAfterTheCalledServiceCrashed() {
        var fleet = SampleFleet()
        let files = SampleFleet.Traffic.server("files", "/files/{name}")
        let crash = ProcessEnd(
            process: ProcessIdentity(service: "files", version: "1", instance: "f"),
            time: FindingTime.time(SampleFleet.slot(40)), cause: "SIGILL at main.swift:41", endpoint: nil)
        fleet.play(40, [orders, call, files])
        fleet.play(2, [orders, call.failing(0.3), files.failing(0.3)]) { $1.ends = [crash] }
        fleet.play(3, [orders, call, files])
        fleet.play(9, [orders, call.with { $0.rate = 400 }, files.with { $0.rate = 400 }])
        #expect(Set(fleet.findings().map(\.kind)) == [.ended, .calls])
    }

    @Test func memoryThatGrowsIsFoundThoughTasksWait() {
        var fleet = SampleFleet()
        fleet.play(40, [orders]) { minute, fleet in
            fleet.processes = [report(minute, memory: 80 + Double(minute))]
            let seconds = minute == 25 ? 1.1 : 0.004
            fleet.waits = [ThreadWait(service: "orders", slot: SampleFleet.slot(minute) + 2, seconds: seconds)]
        }
        #expect(Set(fleet.findings().map(\.kind)) == [.memory, .starved])
    }

    @Test func failingCallThatIsRepeatedIsFound() throws {
        var fleet = SampleFleet()
        fleet.play(40, [orders, call])
        fleet.play(10, [orders, call.with { ($0.rate, $0.failing) = (60, 0.9) }])
        let finding = try #require(fleet.findings().first)
        #expect(finding.kind == .retries && finding.subject == orders.row.subject)
    }

    /// The called service has the failures, and the finding is about its caller.
    @Test func versionOfTheCalledServiceIsNamedWithItsService() throws {
        var fleet = SampleFleet()
        let files = SampleFleet.Traffic.server("files", "/files/{name}")
        fleet.play(40, [orders, call, files]) { $1.callees = ["files:80": ["files"]] }
        fleet.play(
            10,
            [
                orders, call.with { ($0.rate, $0.failing) = (60, 0.45) },
                files.with { ($0.rate, $0.failing, $0.failuresOfVersion2) = (60, 0.45, 1) },
            ])
        let finding = try #require(fleet.findings().first)
        #expect(finding.kind == .retries && finding.subject == orders.row.subject)
        #expect(finding.who.map(\.value) == ["2"] && finding.who.map(\.service) == ["files"])
    }
}
