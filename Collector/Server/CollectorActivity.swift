import MartletReports
import MartletTelemetry
import Synchronization

/// Everything that `/metrics` tells, added up from the collector's start. Safe to call from any task.
final class CollectorActivity: Sendable {
    private let countersState = Mutex(CollectorCounters())
    private let totalsState = Mutex(RequestTotals())

    var counters: CollectorCounters { countersState.withLock { $0 } }
    var totals: RequestTotals { totalsState.withLock { $0 } }

    func count(_ change: (inout CollectorCounters) -> Void) {
        countersState.withLock { change(&$0) }
    }

    /// Points that were stored.
    func add(_ metrics: [InstanceMetrics]) {
        totalsState.withLock { totals in
            for one in metrics { totals.add(one) }
        }
    }
}
