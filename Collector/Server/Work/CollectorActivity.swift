import MartletFindings
import MartletPrometheus
import MartletStorage
import MartletTelemetry
import Synchronization

/// The figures of `/metrics`, summed since the collector's start. Safe to call from any task.
package final class CollectorActivity: Sendable {
    private let countersState = Mutex(CollectorCounters())
    private let totalsState: Mutex<RequestTotals>
    private let endsState: Mutex<EndTotals>
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The points that arrived too late for the findings of their minute.
    let late = LateArrivals()

    /// - Parameter scrapeInterval: the longest interval of a Prometheus; see ``RequestTotals``.
    package init(
        scrapeInterval: Duration = .zero, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        totalsState = Mutex(RequestTotals(scrapeInterval: scrapeInterval))
        endsState = Mutex(EndTotals(scrapeInterval: scrapeInterval))
        self.now = now
    }

    var counters: CollectorCounters { countersState.withLock { $0 } }
    var totals: RequestTotals { totalsState.withLock { $0 } }
    /// The requests as `/metrics` shows them now.
    package var requests: PrometheusRequests { PrometheusRequests(totals, at: now()) }

    /// The ends of processes as `/metrics` shows them now.
    var ends: String {
        let now = now()
        return endsState.withLock { $0.text(at: now) }
    }

    func count(_ change: (inout CollectorCounters) -> Void) {
        countersState.withLock { change(&$0) }
    }

    /// Notes the messages about findings of a receiver.
    package func note(_ notifications: NotificationCounts, of receiver: String) {
        count { $0.notifications[receiver] = notifications }
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
        late.note(metrics)
        let now = now()
        totalsState.withLock { totals in
            for one in metrics { totals.add(one, at: now) }
        }
        endsState.withLock { ends in
            for one in metrics { ends.add(one, at: now) }
        }
    }
}

/// A store that counts its commits and its maintenance passes, and knows what the collector refused.
struct ObservedStorage: StorageWrapper {
    let storage: any Storage
    let activity: CollectorActivity
    let refusals: RefusedSenders
    let now: @Sendable () -> UnixNanoseconds

    init(
        storage: any Storage, activity: CollectorActivity, refusals: RefusedSenders,
        now: @escaping @Sendable () -> UnixNanoseconds
    ) {
        self.storage = storage
        self.activity = activity
        self.refusals = refusals
        self.now = now
        noteMaintained()
    }

    func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        try await observed { try await storage.store(metrics, of: batch) }
    }

    func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome {
        try await observed { try await storage.store(details, of: batch) }
    }

    var refused: [RefusedTelemetry] { refusals.all }

    func maintain() async throws {
        do {
            try await storage.maintain()
        } catch let stop as CancellationError {
            throw stop
        } catch {
            activity.count { $0.failedMaintenance += 1 }
            throw error
        }
        noteMaintained()
    }

    private func noteMaintained() {
        let seconds = Double(now()) / 1e9
        activity.count { $0.maintained = seconds }
    }

    private func observed(_ store: () async throws -> StoreOutcome) async throws -> StoreOutcome {
        let clock = ContinuousClock()
        let start = clock.now
        do {
            let outcome = try await store()
            let seconds = (clock.now - start) / .seconds(1)
            activity.count {
                $0.commits.record(seconds)
                if outcome == .duplicate { $0.duplicateBatches += 1 }
                if outcome == .overlapping { $0.overlappingBatches += 1 }
            }
            return outcome
        } catch let busy as StorageBusy {
            // A busy store is an answer, and not a failed commit.
            throw busy
        } catch {
            activity.count { $0.failedCommits += 1 }
            throw error
        }
    }
}
