import Fixtures
import Foundation
import MartletReports
import Testing

/// Reports of telemetry from the OpenTelemetry SDK for Python, compared with the program's own measurements.
@Suite struct OtherSDKTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var store: String { folder.path("collector.sqlite") }

    @Test(arguments: PythonSDK.Temporality.allCases, PythonSDK.Histogram.allCases)
    func reportMatchesTheMeasurements(temporality: PythonSDK.Temporality, histogram: PythonSDK.Histogram) async throws {
        let collector = try await CollectorProcess(store: store)
        let program = try PythonSDK(
            temporality, histogram, way: .export, rounds: 3, collector: collector.address)
        try await program.goOn()
        try await program.goOn()
        let measured = try await program.finish()
        try await Measurements(measured).expect(in: report(collector, of: measured), histogram)
    }

    @Test(arguments: PythonSDK.Temporality.allCases, PythonSDK.Histogram.allCases)
    func resourcesScopesAndMetricsOfOneRequestStaySeparate(
        temporality: PythonSDK.Temporality, histogram: PythonSDK.Histogram
    ) async throws {
        let collector = try await CollectorProcess(store: store)
        let program = try PythonSDK(
            temporality, histogram, way: .forward, rounds: 2, collector: collector.address)
        try await program.goOn()
        let measured = try await program.finish()
        try await Measurements(measured).expect(in: report(collector, of: measured), histogram)
    }

    @Test(arguments: PythonSDK.Temporality.allCases, PythonSDK.Histogram.allCases)
    func reportsOfJSONMatchToo(temporality: PythonSDK.Temporality, histogram: PythonSDK.Histogram) async throws {
        let collector = try await CollectorProcess(store: store)
        let program = try PythonSDK(temporality, histogram, way: .json, rounds: 2, collector: collector.address)
        try await program.goOn()
        let measured = try await program.finish()
        try await Measurements(measured).expect(in: report(collector, of: measured), histogram)
    }

    @Test(arguments: PythonSDK.Temporality.allCases)
    func restartedServiceContinuesItsCounts(temporality: PythonSDK.Temporality) async throws {
        let collector = try await CollectorProcess(store: store)
        var measured: [PythonSDK.Series] = []
        for _ in 1...2 {
            let program = try PythonSDK(
                temporality, .exponential, way: .export, rounds: 1, collector: collector.address)
            measured += try await program.finish()
        }
        try await Measurements(measured).expect(in: report(collector, of: measured), .exponential)
    }

    @Test(arguments: PythonSDK.Temporality.allCases)
    func killedAndRestartedCollectorCountsEachRequestOnce(temporality: PythonSDK.Temporality) async throws {
        let first = try await CollectorProcess(store: store)
        let port = first.port
        let program = try PythonSDK(temporality, .explicit, way: .export, rounds: 2, collector: first.address)
        try await program.waitForRound()
        await first.kill()
        let second = try await CollectorProcess(store: store, port: port)
        program.startRound()
        let measured = try await program.finish()
        try await Measurements(measured).expect(in: report(second, of: measured), .explicit)
    }

    /// Each round goes to another collector.
    @Test(
        .timeLimit(.minutes(5)), .enabled("a ClickHouse is installed") { TestedClickHouse.current != nil },
        arguments: PythonSDK.Histogram.allCases)
    func cumulativeCountsContinueInAnotherCollectorOnTheSameClickHouse(histogram: PythonSDK.Histogram) async throws {
        let server = try #require(TestedClickHouse.current)
        let location = "clickhouse:" + server.newDatabase()
        let (status, _, errors) = try await ChildProcess(.martletCollector, ["migrate", "--store", location]).finish()
        try #require(status == 0, "\(errors)")
        let first = try await CollectorProcess(store: location)
        let port = first.port
        let program = try PythonSDK(.cumulative, histogram, way: .export, rounds: 3, collector: first.address)
        try await program.waitForRound()
        await first.kill()
        let second = try await CollectorProcess(store: location, port: port)
        program.startRound()
        try await program.waitForRound()
        await second.kill()
        let third = try await CollectorProcess(store: location, port: port)
        program.startRound()
        let measured = try await program.finish()
        try await Measurements(measured).expect(in: report(third, of: measured), histogram)
    }

    /// The program's rounds take 2.5 s of CPU time each.
    @Test(arguments: PythonSDK.Temporality.allCases, [PythonSDK.Way.export, .json])
    func processFiguresAreKept(temporality: PythonSDK.Temporality, way: PythonSDK.Way) async throws {
        let collector = try await CollectorProcess(store: store)
        let program = try PythonSDK(temporality, .explicit, way: way, rounds: 3, collector: collector.address)
        try await program.goOn()
        try await program.goOn()
        _ = try await program.finish()
        let probe = Probe(folder: folder, collector: collector.address)
        let answer = try await settled {
            try await probe.processes()
        } until: { answer in
            answer.rows.count == 2 && answer.rows.allSatisfy { $0.cpuSeconds ?? 0 > 7.4 }
        }
        #expect(answer.rows.map(\.service) == ["also measured", "measured"])
        for row in answer.rows {
            #expect(row.processes == 1)
            #expect(abs(try #require(row.cpuSeconds) - 7.5) < 1e-6)
            let slot = try #require(row.slots.compactMap(\.self).last)
            #expect(slot.memory == Double(84 << 20))
            #expect(slot.threads == 7)
            #expect(slot.descriptors == 42)
            #expect(row.busyWait == nil)
        }
    }

    /// Returns the report once its metrics have all measured requests. Until then the report counts the spans of the same
    /// requests.
    private func report(_ collector: CollectorProcess, of measured: [PythonSDK.Series]) async throws -> Report {
        let by = ["service", "kind", "endpoint", "status"].flatMap { ["--by", $0] }
        let wanted = measured.filter { $0.service != "traced" }.reduce(0) { $0 + $1.seconds.count }
        let probe = Probe(folder: folder, collector: collector.address)
        return try await settled {
            try await probe.report(by)
        } until: { report in
            report.rows.reduce(0) { $0 + Int($1.measures.count - ($1.measures.fromSpans ?? 0)) } >= wanted
        }
    }
}
