import Foundation
import MartletTelemetry

/// The metrics of one sender in one batch: the collector's side of a ``MetricsBatch``. Each point may have a different
/// interval. Only Martlet's agents keep a ledger.
package struct InstanceMetrics: Sendable, Equatable {
    package var resource: TelemetryResource
    package var points: [RequestPoint]
    /// The arrived points that ``points`` add up; empty if the sender is a Martlet agent, which numbers its batches.
    package var arrived = ArrivedPoints()
    /// The points of cumulative metrics; a Martlet agent sends none for requests.
    package var cumulative: [CumulativePoint]
    package var ledger: LedgerReading?
    /// The figures of the process, without its cumulative counters, which are in ``processTotals``.
    package var process: [ProcessPoint]
    package var processTotals: [ProcessTotal]
    /// The ends of earlier processes of the service.
    package var ends: [ReportedEnd] = []

    package init(
        resource: TelemetryResource, points: [RequestPoint], cumulative: [CumulativePoint] = [],
        ledger: LedgerReading? = nil, process: [ProcessPoint] = [], processTotals: [ProcessTotal] = []
    ) {
        self.resource = resource
        self.points = points
        self.cumulative = cumulative
        self.ledger = ledger
        self.process = process
        self.processTotals = processTotals
    }

    /// The number of requests in ``points``.
    package var requests: UInt64 {
        // The loop uses indexes, because a copy of a point costs more than the addition.
        points.indices.reduce(0) { $0 &+ points[$1].statistics.requests }
    }
}

/// A ``Ledger`` at one moment, as the collector receives it. The reasons for loss are the sender's strings, because a newer
/// agent may have reasons that this collector does not know.
package struct LedgerReading: Sendable, Equatable {
    package var time: UnixNanoseconds
    package var captured: UInt64
    package var delivered: UInt64
    package var waiting: UInt64
    package var dropped: [String: UInt64]
    /// Nanoseconds since the instance's start, by its wall clock; 0 if unknown.
    package var age: UInt64
    /// Nanoseconds since the instance's start in which capture was off; 0 if unknown.
    package var unwatched: UInt64
    /// CPU time that the agent has used since the instance's start, in nanoseconds; 0 if unknown.
    package var agentCPU: UInt64

    package init(
        time: UnixNanoseconds, captured: UInt64 = 0, delivered: UInt64 = 0, waiting: UInt64 = 0,
        dropped: [String: UInt64] = [:], age: UInt64 = 0, unwatched: UInt64 = 0,
        agentCPU: UInt64 = 0
    ) {
        self.time = time
        self.captured = captured
        self.delivered = delivered
        self.waiting = waiting
        self.dropped = dropped
        self.age = age
        self.unwatched = unwatched
        self.agentCPU = agentCPU
    }
}

extension LedgerReading {
    /// Returns the reading updated with the batches that have arrived since the agent made it: the batch that brought it, and
    /// those waiting with that batch. Only the agent's own figure includes requests that went to another collector.
    ///
    /// - Parameters:
    ///   - requests: requests in the batches that brought the reading.
    ///   - arrived: requests in all batches of the sender; 0 if they were not added up.
    package func upToDate(requests: UInt64, arrived: UInt64) -> LedgerReading {
        var reading = self
        let settled = dropped.values.reduce(0, &+)
        let undropped = captured >= settled ? captured - settled : 0
        let (sum, isTooLarge) = delivered.addingReportingOverflow(requests)
        reading.delivered = min(undropped, max(isTooLarge ? 0 : sum, arrived))
        reading.waiting = undropped - reading.delivered
        return reading
    }
}

/// Converts the numbers of lost requests by reason to and from the JSON object of a column; `''` for none.
package enum DroppedText {
    package static func text(of dropped: [String: UInt64]) -> String {
        // Almost no batch has drops, and creating an encoder costs as much as a statement.
        guard !dropped.isEmpty, let json = try? JSONEncoder().encode(dropped) else { return "" }
        return String(decoding: json, as: UTF8.self)
    }

    package static func dropped(from text: String) -> [String: UInt64] {
        guard !text.isEmpty else { return [:] }
        return (try? JSONDecoder().decode([String: UInt64].self, from: Data(text.utf8))) ?? [:]
    }
}
