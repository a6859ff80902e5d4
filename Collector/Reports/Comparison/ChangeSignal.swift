import MartletStorage
import MartletTelemetry

/// The property that more or fewer requests have than before: they failed, or took longer than a quantile before.
struct ChangeSignal {
    /// Whether more requests have it.
    let isMore: Bool
    /// The share of the requests that had it before, 0...1.
    let before: Double
    /// Seconds; `nil` for the failed requests.
    private let threshold: Double?

    /// The first of failures, p99, p95 and p50 that changed as the verdict says.
    init?(_ verdict: Verdict) {
        let changes: Verdict.Changes
        switch verdict {
        case .worse(let found): (changes, isMore) = (found, true)
        case .better(let found): (changes, isMore) = (found, false)
        case .noChangeFound, .tooLittleData: return nil
        }
        let isMore = isMore
        if let failures = changes.failures, (failures.after > failures.before) == isMore {
            (before, threshold) = (failures.before, nil)
            return
        }
        let quantiles = [(0.01, changes.p99), (0.05, changes.p95), (0.5, changes.p50)].lazy
            .compactMap { above, change in change.map { (above: above, change: $0) } }
        guard let first = quantiles.first(where: { ($0.change.after.value > $0.change.before.value) == isMore })
        else { return nil }
        (before, threshold) = (first.above, first.change.before.value / 1000)
    }

    /// Returns the requests of a slot that have the property, and all of them.
    func share(of slot: RequestGroup) -> ShareShift.Share {
        let count = Double(slot.count)
        guard let threshold else { return (Double(slot.failedCount), count) }
        let upTo = [slot.unfailed, slot.failed].reduce(0.0) {
            $0 + Double($1.duration.countOfValues(upTo: threshold))
        }
        return (max(count - upTo, 0), count)
    }
}
