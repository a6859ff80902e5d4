import MartletPoints
import MartletStorage
import MartletTelemetry

/// A batch that waits to be stored.
struct PendingBatch: Sendable {
    enum Contents: Sendable {
        case metrics([InstanceMetrics])
        case details([DetailsBatch])
    }

    let id: BatchID?
    let contents: Contents
    /// The collector's clock.
    let arrival: UnixNanoseconds

    /// The rows that it becomes, roughly.
    var rows: Int {
        switch contents {
        case .metrics(let metrics): metrics.reduce(1) { $0 + $1.rows }
        case .details(let details): details.reduce(1) { $0 + $1.details.count }
        }
    }

    /// Roughly the memory that it takes, in bytes.
    var bytes: Int {
        switch contents {
        case .metrics(let metrics): metrics.reduce(0) { $0 + $1.estimatedBytes }
        case .details(let details): details.reduce(0) { $0 + $1.estimatedBytes }
        }
    }

    /// The latest time that the batch tells of, by the senders' clocks; 0 if it tells none.
    var latestTime: UnixNanoseconds {
        switch contents {
        case .metrics(let metrics): metrics.reduce(0) { max($0, $1.latestEnd, $1.ledger?.time ?? 0) }
        case .details(let details): details.reduce(0) { max($0, $1.latestEnd) }
        }
    }
}

extension InstanceMetrics {
    var latestEnd: UnixNanoseconds {
        [
            points.indices.reduce(0) { max($0, points[$1].end) }, cumulative.reduce(0) { max($0, $1.point.end) },
            process.reduce(0) { max($0, $1.end) }, processTotals.reduce(0) { max($0, $1.end) },
        ].max() ?? 0
    }

    /// Whether there are figures that count as differences.
    var isCumulative: Bool { !cumulative.isEmpty || !processTotals.isEmpty }

    fileprivate var rows: Int { points.count + cumulative.count + process.count + processTotals.count }
}

extension DetailsBatch {
    var latestEnd: UnixNanoseconds { details.reduce(0) { max($0, $1.start &+ $1.durationNanoseconds) } }
}
