import MartletPoints
import MartletPrometheus
import MartletTelemetry
import Synchronization

/// The figures of `/metrics`, added up from the collector's start. Safe to call from any task.
package final class CollectorActivity: Sendable {
    private let countersState = Mutex(CollectorCounters())
    private let totalsState = Mutex(RequestTotals())

    package init() {}

    var counters: CollectorCounters { countersState.withLock { $0 } }
    package var totals: RequestTotals { totalsState.withLock { $0 } }

    /// See ``RequestTotals/page()``.
    func page() -> RequestTotals { totalsState.withLock { $0.page() } }

    /// See ``RequestTotals/markTaken(_:)``.
    func markTaken(_ page: RequestTotals) { totalsState.withLock { $0.markTaken(page) } }

    func count(_ change: (inout CollectorCounters) -> Void) {
        countersState.withLock { change(&$0) }
    }

    /// Adds the newly stored telemetry of a batch. The store calls this once for each batch.
    ///
    /// - Parameters:
    ///   - metrics: the new points, of metrics or of spans.
    ///   - spans: the number of new spans.
    package func add(_ metrics: [InstanceMetrics], spans: Int) {
        let points = metrics.reduce(0) { sum, one in
            sum + one.points.indices.count(where: { one.points[$0].series.source == .metrics })
        }
        count {
            $0.points += UInt64(points)
            $0.spans += UInt64(spans)
        }
        totalsState.withLock { totals in
            for one in metrics { totals.add(one) }
        }
    }
}
