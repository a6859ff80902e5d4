import Foundation

/// A search for the slots that differ from those around them. Pure.
enum ShareShift {
    /// Some requests of a slot, and all of them.
    typealias Share = (part: Double, all: Double)

    /// The gain in logarithmic likelihood from which on a range counts. Each of the some 400 ranges of 30 slots reaches it by
    /// chance in one of 10,000 windows.
    private static let leastGain = 8.0

    /// Returns the range of slots whose share differs most likely from that of all others together (Kulldorff: "A spatial scan
    /// statistic", 1997). Slots that vary more than independent requests do need as much more. `nil` if no range stands out.
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

    /// Returns whether a share that had been `before` in the first quarter of the slots, and another one since, would have been
    /// found.
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

    /// The logarithmic likelihood of a share at its own rate.
    private static func likelihood(_ share: Share) -> Double {
        let rate = rate(share)
        guard rate > 0, rate < 1 else { return 0 }
        return share.part * log(rate) + (share.all - share.part) * log(1 - rate)
    }
}
