import MartletStorage
import MartletTelemetry

/// The CPU time that Foundation may have taken while requests of `URLSession` waited for their first bytes.
///
/// On Linux, Foundation keeps a core busy while a request on a new connection waits, because the socket's write source stays armed
/// after the request was written. A request on a reused connection costs nothing. The requests of one session share a thread, so
/// many that wait at once take one core.
package struct BusyWait: Sendable, Equatable, Codable {
    package var service: String
    /// The sum of the times that requests on new connections waited for their first bytes, in seconds.
    package var waited: Double
    /// CPU time of the service's processes, in seconds.
    package var cpu: Double
    /// The most CPU time that the waits can have taken, in seconds.
    package var estimate: Double

    private enum CodingKeys: String, CodingKey {
        case service
        case waited = "waited_seconds"
        case cpu = "cpu_seconds"
        case estimate = "estimate_seconds"
    }

    /// The CPU time per second of waiting: 0.9 s were measured (docs/internals/process.md).
    static let share = 0.9
    /// The smallest estimate that is reported, in seconds. The first requests of a process always open connections.
    static let leastSeconds = 10.0
    /// The smallest part of a core that is reported, as a mean over all processes. Saving less is not worth the effort.
    static let leastCores = 0.1
    /// The smallest share of a service's CPU time that is reported. Below it, other work deserves attention first.
    static let leastShare = 0.3
    /// The versions of Swift whose Foundation is known to behave this way. For other versions nothing is reported.
    static let runtimes: Set<String?> = ["swift 6.2", "swift 6.3", "swift 6.4"]

    /// `nil` if there is nothing to report.
    ///
    /// - Parameters:
    ///   - processes: the processes of the service.
    ///   - requests: the outgoing requests of the service, in any groups.
    package init?(_ processes: ProcessSeries, _ requests: [RequestGroup]) {
        guard processes.runtimes.isSubset(of: Self.runtimes), let cpu = processes.total.cpu else { return nil }
        service = processes.service
        self.cpu = Double(cpu) / 1e9
        waited = requests.reduce(0) { $0 + $1.statistics.phases.waitedOnNewConnections }
        estimate = min(self.cpu, waited * Self.share)
        let worth = [
            Self.leastSeconds, Self.leastCores * Double(processes.total.covered) / 1e9, Self.leastShare * self.cpu,
        ]
        guard worth.allSatisfy({ estimate >= $0 }) else { return nil }
    }

    /// A sentence without a full stop and without the service's name.
    package var sentence: String {
        """
        requests on new connections waited \(FigureText.seconds(waited)) for answers; up to \(FigureText.seconds(estimate)) \
        of the \(FigureText.seconds(cpu)) of CPU time may be Foundation's busy wait
        """
    }

    /// The remedy, in a sentence without a full stop.
    package var advice: String {
        "one session that reuses its connections, or AsyncHTTPClient, avoids most of it (docs/capture.md)"
    }
}

extension PhaseTotals {
    /// The time that requests on new connections waited, in seconds. The phases don't show which requests opened their
    /// connections, so the wait is divided evenly.
    fileprivate var waitedOnNewConnections: Double {
        let (wait, connects) = (self[.firstByte], self[.connect].count)
        return wait.count > 0 ? wait.seconds * Double(min(connects, wait.count)) / Double(wait.count) : 0
    }
}

extension Storage {
    /// Returns the services that took much CPU time while requests waited, since the start of the previous hour. Whole hours
    /// are cheap to read, because a store has them in a few rows.
    package func recentBusyWaits(
        now: UnixNanoseconds, _ filter: RequestFilter
    ) async throws -> [BusyWait] {
        let hour: UInt64 = 3_600_000_000_000
        let window = TimeWindow(from: now - min(now, now % hour + hour), to: now)
        return try await busyWaits(
            of: try await processes(ProcessQuery(window: window, filter: filter, step: hour)), filter)
    }

    /// Returns the services that took much CPU time while requests waited, sorted by name.
    ///
    /// - Parameter answer: the processes of the services that a filter selects.
    package func busyWaits(of answer: ProcessAnswer, _ filter: RequestFilter) async throws -> [BusyWait] {
        let services = answer.services.filter { $0.runtimes.isSubset(of: BusyWait.runtimes) }
        guard !services.isEmpty else { return [] }
        var filter = filter
        for dimension in Dimension.ofRequest { filter.removeAll(dimension) }
        filter.select(.kind, RequestKind.client.rawValue)
        let requests = try await statistics(
            StatisticsQuery(window: answer.grid.window, filter: filter, by: [.service, .host]))
        let groups = Dictionary(grouping: requests.groups) { $0.values[0] ?? "" }
        return services.compactMap { BusyWait($0, groups[$0.service] ?? []) }
    }
}
