import Foundation
import MartletStorage
import MartletTelemetry

/// The part of a report's window during which a row's figure differed from before. Times are as precise as the slots of the
/// report.
package struct ChangedTime: Sendable, Equatable, Codable {
    /// RFC 3339, UTC; the window's start if the figure already differed then.
    package var from: String
    /// RFC 3339, UTC; `nil`, and left out, if the figure differed until the window's end.
    package var until: String?
    /// Whether ``from`` is the window's start.
    package var isFromStart: Bool

    private enum CodingKeys: String, CodingKey {
        case from, until
        case isFromStart = "is_from_start"
    }

    package init(from: String, until: String?, isFromStart: Bool) {
        (self.from, self.until, self.isFromStart) = (from, until, isFromStart)
    }

    /// Returns `nil` if the verdict names no change, or if there are too few requests to find its time.
    ///
    /// - Parameter slots: the row's requests in each slot of the window.
    init?(_ verdict: Verdict, _ slots: [RequestGroup], in grid: SlotGrid) {
        guard let signal = ChangeSignal(verdict) else { return nil }
        let shares = slots.map(signal.share)
        let found = ShareShift.range(of: shares, isMore: signal.isMore)
        guard found != nil || ShareShift.wouldBeFound(in: shares, from: signal.before) else { return nil }
        let (first, last) = (found?.lowerBound ?? 0, found?.upperBound ?? shares.count - 1)
        // Slots without requests at either end give no information.
        isFromStart = shares[..<first].allSatisfy { $0.all == 0 }
        from = TimeText.exact(grid.window(ofSlot: isFromStart ? 0 : first).from)
        until = shares[(last + 1)...].allSatisfy { $0.all == 0 } ? nil : TimeText.exact(grid.window(ofSlot: last).to)
    }

    /// Returns the part in words.
    ///
    /// - Parameter moment: returns a time in words.
    package func text(_ moment: (UnixNanoseconds) -> String) -> String {
        func word(_ time: String) -> String { TimeText.parse(time, now: 0).map(moment) ?? time }
        return switch (isFromStart, until) {
        case (true, nil): "all the time"
        case (true, let until?): "until \(word(until))"
        case (false, nil): "since \(word(from))"
        case (false, let until?): "from \(word(from)) to \(word(until))"
        }
    }
}

/// A property that more or fewer requests have than before: that they failed, or took longer than a quantile of the earlier
/// window.
struct ChangeSignal {
    /// Whether more requests have it than before.
    let isMore: Bool
    /// The share of the requests that had it before, 0...1.
    let before: Double
    /// Seconds; `nil` for failed requests.
    private let threshold: Double?

    /// Picks the first of failures, p99, p95 and p50 that changed in the verdict's direction.
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

    /// Returns the requests of a slot that have the property, and all its requests.
    func share(of slot: RequestGroup) -> ShareShift.Share {
        let count = Double(slot.count)
        guard let threshold else { return (Double(slot.failedCount), count) }
        let upTo = [slot.succeeded, slot.failed].reduce(0.0) {
            $0 + Double($1.duration.countOfValues(upTo: threshold))
        }
        return (max(count - upTo, 0), count)
    }
}

/// A search for the slots that differ from those around them. Pure.
enum ShareShift {
    /// The requests of a slot with a property, and all its requests.
    typealias Share = (part: Double, all: Double)

    /// The smallest gain in log-likelihood at which a range counts. By chance, each of the about 400 ranges of 30 slots reaches
    /// it in one of 10,000 windows.
    private static let leastGain = 8.0

    /// Returns the range of slots whose share most likely differs from that of all others together (Kulldorff: "A spatial scan
    /// statistic", 1997). Slots that vary more than independent requests need a correspondingly larger gain. `nil` if no range
    /// gains enough.
    ///
    /// - Parameter isMore: whether the share in the range is the greater one.
    static func range(of slots: [Share], isMore: Bool) -> ClosedRange<Int>? {
        let total = sum(slots[...])
        var best: (range: ClosedRange<Int>, gain: Double)?
        for first in slots.indices {
            var inside: Share = (0, 0)
            for last in first..<slots.count {
                inside = (inside.part + slots[last].part, inside.all + slots[last].all)
                let outside: Share = (total.part - inside.part, total.all - inside.all)
                guard inside.all > 0, outside.all > 0, slots[first].all > 0, slots[last].all > 0,
                    (rate(inside) > rate(outside)) == isMore
                else { continue }
                let gain = likelihood(inside) + likelihood(outside) - likelihood(total)
                if gain > best?.gain ?? 0 { best = (first...last, gain) }
            }
        }
        guard let best, best.gain >= leastGain * dispersion(of: slots, around: best.range) else { return nil }
        return best.range
    }

    /// Returns whether the search would have found the change if the share had been `before` in the first quarter of the slots,
    /// and the overall share since.
    static func wouldBeFound(in slots: [Share], from before: Double) -> Bool {
        guard !slots.isEmpty else { return false }
        let all = sum(slots[...])
        let quarter: Share = (before * all.all / 4, all.all / 4)
        let rest: Share = (rate(all) * all.all * 3 / 4, all.all * 3 / 4)
        let gain =
            likelihood(quarter) + likelihood(rest) - likelihood((quarter.part + rest.part, quarter.all + rest.all))
        return gain >= leastGain * dispersion(of: slots, around: 0...slots.count - 1)
    }

    /// The variance of the slots as a multiple of that of independent requests; at least 1.
    private static func dispersion(of slots: [Share], around range: ClosedRange<Int>) -> Double {
        let (inside, total) = (sum(slots[range]), sum(slots[...]))
        let rates = (rate(inside), rate((total.part - inside.part, total.all - inside.all)))
        var (squares, count) = (0.0, 0.0)
        for (index, slot) in slots.enumerated() where slot.all > 0 {
            let rate = range.contains(index) ? rates.0 : rates.1
            let variance = slot.all * rate * (1 - rate)
            guard variance > 0 else { continue }
            squares += pow(slot.part - slot.all * rate, 2) / variance
            count += 1
        }
        return count > 2 ? max(1, squares / (count - 2)) : 1
    }

    private static func sum(_ slots: ArraySlice<Share>) -> Share {
        slots.reduce((0, 0)) { ($0.part + $1.part, $0.all + $1.all) }
    }

    private static func rate(_ share: Share) -> Double { share.all > 0 ? share.part / share.all : 0 }

    /// The log-likelihood of a share at its own rate.
    private static func likelihood(_ share: Share) -> Double {
        let rate = rate(share)
        guard rate > 0, rate < 1 else { return 0 }
        return share.part * log(rate) + (share.all - share.part) * log(1 - rate)
    }
}
