import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct BusyWaitTests {
    /// - Parameters:
    ///   - cpu: seconds of CPU time in 1,000 s.
    private func processes(cpu: Double, runtimes: Set<String?> = ["swift 6.3"]) -> ProcessSeries {
        var total = ProcessStatistics()
        total.counts[.cpuUser] = UInt64(cpu * 1e9)
        total.covered = 1_000_000_000_000
        return ProcessSeries(
            service: "checkout", processes: 1, started: 0, runtimes: runtimes, total: total, slots: [])
    }

    /// - Parameters:
    ///   - waited: the seconds that 100 requests waited.
    ///   - connections: the number of requests that opened a connection.
    private func requests(waited: Double, connections: UInt64) -> RequestGroup {
        var statistics = Samples.statistics([0.1])
        statistics.phases = Samples.phases([.firstByte: (100, waited), .connect: (connections, 0.1)])
        return Samples.group([], [(Samples.dimensions(), statistics)])
    }

    @Test func waitsOnNewConnectionsAreComparedWithTheCPUTime() throws {
        let wait = try #require(BusyWait(processes(cpu: 350), [requests(waited: 400, connections: 100)]))
        #expect(wait.waited == 400)
        #expect(wait.cpu == 350)
        #expect(wait.estimate == 350)
        #expect(
            wait.sentence == """
                requests on new connections waited 6.7 min for answers; up to 5.8 min of the 5.8 min of CPU time may be \
                Foundation's busy wait
                """)
    }

    @Test func requestOnAReusedConnectionCostsNothing() throws {
        let wait = try #require(BusyWait(processes(cpu: 350), [requests(waited: 800, connections: 25)]))
        #expect(wait.waited == 200)
        #expect(wait.estimate == 180)
        #expect(BusyWait(processes(cpu: 350), [requests(waited: 800, connections: 0)]) == nil)
    }

    @Test(arguments: [
        // Less than a tenth of a core.
        (120.0, 105.0),
        // Less than three tenths of the CPU time.
        (1000, 320),
    ])
    func smallEstimatesAreNotReported(cpu: Double, waited: Double) {
        #expect(BusyWait(processes(cpu: cpu), [requests(waited: waited, connections: 100)]) == nil)
    }

    @Test(arguments: [["swift 6.9"], [nil], ["python 3.11"], ["swift 6.3", nil]] as [Set<String?>])
    func nothingIsReportedForAnUnknownRuntime(runtimes: Set<String?>) {
        let processes = processes(cpu: 350, runtimes: runtimes)
        #expect(BusyWait(processes, [requests(waited: 400, connections: 100)]) == nil)
    }
}
