import MartletStorage
import MartletTelemetry

/// The CPU time that Foundation may have taken while requests of `URLSession` waited for their first bytes.
///
/// On Linux it keeps a core busy as long as a request on a new connection waits: the socket's source of writes stays armed
/// after the request was written. A request on a connection that was used before costs nothing. One session's requests share
/// a thread, so many that wait at once take one core.
package struct BusyWait: Sendable, Equatable, Codable {
    package var service: String
    /// The time that requests on new connections waited for their first bytes, each by itself, in seconds.
    package var waited: Double
    /// CPU time of the service's processes, in seconds.
    package var cpu: Double
    /// The part of it that the waits took at most, in seconds.
    package var estimate: Double

    private enum CodingKeys: String, CodingKey {
        case service
        case waited = "waited_seconds"
        case cpu = "cpu_seconds"
        case estimate = "estimate_seconds"
    }

    /// The CPU time of a second of waiting: 0.9 s were measured (docs/process.md).
    static let share = 0.9
    /// The least estimate that is worth a word, in seconds: the first requests of a process make connections anyway.
    static let leastSeconds = 10.0
    /// The least part of a core, as a mean of all processes, that is worth a word: nothing is won by less.
    static let leastCores = 0.1
    /// The least share of a service's CPU time that is worth a word. Below it other work is worth a look first.
    static let leastShare = 0.3
    /// The versions of Swift whose Foundation is known to do so. Nothing is said about any other.
    static let runtimes: Set<String?> = ["swift 6.2", "swift 6.3", "swift 6.4"]

    /// `nil` if there is nothing to tell.
    ///
    /// - Parameters:
    ///   - processes: the processes of the service.
    ///   - requests: the requests that the service made, in any groups.
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

    /// Without a stop at the end, and without the service.
    package var sentence: String {
        """
        requests on new connections waited \(FigureText.seconds(waited)) for answers; up to \(FigureText.seconds(estimate)) \
        of the \(FigureText.seconds(cpu)) of CPU time may be Foundation's busy wait
        """
    }

    /// The remedy, in a sentence without a stop at its end.
    package var advice: String {
        "one session that reuses its connections, or AsyncHTTPClient, avoids most of it (docs/process.md)"
    }
}

extension PhaseTotals {
    /// Seconds. The phases do not tell which requests made their connections, so the wait is divided evenly.
    fileprivate var waitedOnNewConnections: Double {
        let (wait, connects) = (self[.firstByte], self[.connect].count)
        return wait.count > 0 ? wait.seconds * Double(min(connects, wait.count)) / Double(wait.count) : 0
    }
}

extension Storage {
    /// Returns the services that took much CPU time while requests waited, since the hour before this one began. A store has
    /// whole hours in a few rows.
    package func recentBusyWaits(
        now: UnixNanoseconds, _ filter: RequestFilter
    ) async throws -> [BusyWait] {
        let hour: UInt64 = 3_600_000_000_000
        let window = TimeWindow(from: now - min(now, now % hour + hour), to: now)
        return try await busyWaits(
            of: try await processes(ProcessQuery(window: window, filter: filter, step: hour)), filter)
    }

    /// Returns the services that took much CPU time while requests waited, in the order of their names.
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
