import Foundation

/// When a change began and ended, in slots of the compared window.
///
/// Outside of the change, shares are as in the window before. So a change that was there all the time is one that begins where the
/// window begins, and it competes with all other beginnings. The likeliest beginning and end are named if all others are clearly less
/// likely.
package struct ChangeOnset: Sendable, Equatable {
    /// The slots of the window that the change covers: all of them if no other time is clear.
    package let slots: Range<Int>
    /// Whether ``slots`` are known. If not, a beginning within the window would not have been seen.
    package let isClear: Bool
    /// The beginnings that are about as likely as the likeliest one.
    package let beginnings: ClosedRange<Int>

    /// Whether the change was there when the window began.
    package var isFromStart: Bool { slots.lowerBound == 0 }

    init(slots: Range<Int>, isClear: Bool = true, beginnings: ClosedRange<Int>) {
        (self.slots, self.isClear, self.beginnings) = (slots, isClear, beginnings)
    }

    /// Finds the time of a change that was found. `nil` if the share did not move in its direction.
    ///
    /// - Parameters:
    ///   - slots: the slots of the window before and of the window, in order.
    ///   - length: the number of slots of the window.
    ///   - noise: the noise of the past of windows of five minutes; 0 if it is unknown.
    ///   - minutes: the length of a slot.
    package init?(
        _ slots: [SignalCounts], length: Int, _ direction: ChangeDirection, noise: Double = 0,
        slotMinutes minutes: Int = 1
    ) {
        let search = OnsetSearch(slots, length: length, direction)
        guard let likeliest = search.likeliest, search.gains[0, length] != nil else { return nil }
        let seen = Self.dispersion(slots, inside: likeliest, length: length)
        let change = Array(slots[likeliest.shifted(slots.count - length)]).sum
        let past = PastOfOnset(noise: noise, slotMinutes: minutes)
        let unit = max(seen, past.dispersion(change, slots))
        let byGain = search.change(likeliest, needed: VerdictConstants.clearGain * unit)
        let byDistance =
            byGain == nil && noise > 0
            ? search.change(likeliest, needed: VerdictConstants.clearGain * seen, awayBy: past) : nil
        self.slots = byGain ?? byDistance ?? 0..<length
        isClear =
            self.slots != 0..<length || search.wouldBeFound(needed: VerdictConstants.clearGain * unit)
            || noise > 0 && search.wouldBeFound(needed: VerdictConstants.clearGain * seen, awayBy: past)
        beginnings = search.beginnings(
            of: self.slots, within: VerdictConstants.alikeGain * (byDistance == nil ? unit : seen))
    }

    /// The unit of gains as the compared windows show it: by how much the variance of slots exceeds that of independent requests.
    private static func dispersion(_ slots: [SignalCounts], inside: Range<Int>, length: Int) -> Double {
        let inside = inside.shifted(slots.count - length)
        let change = Array(slots[inside]).sum
        let total = slots.sum
        let outside = total - change
        let least = 0.5 / max(total.all, 1)
        let errors = zip(slots.indices, slots).filter { $0.1.all > 0 }.map { index, slot in
            let share = min(max((inside.contains(index) ? change : outside).share, least), 1 - least)
            return (slot.having - slot.all * share) / (slot.all * share * (1 - share)).squareRoot()
        }
        return Dispersion(errors).unit
    }
}

extension Range<Int> {
    fileprivate func shifted(_ count: Int) -> Range<Int> { lowerBound + count..<upperBound + count }
}

/// The past of a row, with which parts of a window are compared.
private struct PastOfOnset {
    /// The noise of windows of five minutes.
    let noise: Double
    let slotMinutes: Int

    /// The unit of gains, if the requests of five minutes vary together as in the past.
    func dispersion(_ change: SignalCounts, _ slots: [SignalCounts]) -> Double {
        let perMinute = slots.sum.all / Double(max(slots.count, 1) * slotMinutes)
        let block = perMinute * Double(max(VerdictConstants.blockMinutes, slotMinutes))
        return 1 + noise * change.share * (1 - change.share) * block
    }

    /// Requests of some slots.
    typealias Part = (counts: SignalCounts, slots: Double)

    /// Returns whether two parts of a window differ by more than they do in the past.
    func areApart(_ one: Part, _ other: Part) -> Bool {
        let score = WindowDifference(one.counts, from: other.counts).score(noise(one.slots) + noise(other.slots))
        return abs(score) >= VerdictConstants.clearDistance
    }

    /// Returns the noise of a part. A shorter part varies more; a longer one is taken to vary as much.
    private func noise(_ slots: Double) -> Double {
        noise * max(Double(VerdictConstants.blockMinutes) / (slots * Double(slotMinutes)), 1)
    }
}

/// The variance of errors that are 1 if requests are independent, and how much neighbours resemble each other.
private struct Dispersion {
    let unit: Double

    init(_ errors: [Double]) {
        let squares = errors.reduce(0) { $0 + $1 * $1 }
        let variance = max(1, squares / Double(max(errors.count - 2, 1)))
        let products = zip(errors.dropFirst(), errors).reduce(0) { $0 + $1.0 * $1.1 }
        let correlation = squares > 0 ? max(products / squares + 1 / Double(errors.count), 0) : 0
        unit =
            variance
            * min(1 + VerdictConstants.dispersionGrowth * correlation, VerdictConstants.maxDispersionGrowth)
    }
}

/// The log-likelihood of each beginning and end of a change.
private struct OnsetSearch {
    /// Log-likelihoods by beginning and end; `nil` if the share did not move in the change's direction.
    struct Gains {
        fileprivate let length: Int
        fileprivate var values: [Double?]

        subscript(first: Int, end: Int) -> Double? { values[first * (length + 1) + end] }
    }

    let gains: Gains
    private let length: Int
    private let window: [SignalCounts]
    private let before: SignalCounts

    init(_ slots: [SignalCounts], length: Int, _ direction: ChangeDirection) {
        let window = Array(slots.suffix(length))
        let total = slots.sum
        var gains = Gains(length: length, values: Array(repeating: nil, count: (length + 1) * (length + 1)))
        for first in 0..<length {
            var inside = SignalCounts(0, of: 0)
            for end in first + 1...length {
                inside = inside + window[end - 1]
                let outside = total - inside
                let moved = inside.having * outside.all - outside.having * inside.all
                guard inside.all > 0, direction.sign * moved > 0 else { continue }
                gains.values[first * (length + 1) + end] = inside.logLikelihood + outside.logLikelihood
            }
        }
        (self.gains, self.length, self.window) = (gains, length, window)
        before = total - window.sum
    }

    /// The likeliest beginning and end.
    var likeliest: Range<Int>? { best(0...length - 1, 1...length)?.range }

    /// Returns the change that is likelier by `needed` than one that was there all the time; `nil` if none is.
    ///
    /// - Parameter past: if given, the rest of the window has to differ from the change by more than it does in the past.
    func change(_ likeliest: Range<Int>, needed: Double, awayBy past: PastOfOnset? = nil) -> Range<Int>? {
        let found = clear(likeliest, needed: needed)
        guard found != 0..<length, let gain = gains[found.lowerBound, found.upperBound], let all = gains[0, length],
            gain - all >= needed
        else { return nil }
        guard let past else { return found }
        func part(_ slots: Range<Int>) -> PastOfOnset.Part { (Array(window[slots]).sum, Double(slots.count)) }
        let rest = [0..<found.lowerBound, found.upperBound..<length].filter { !$0.isEmpty }
        return rest.allSatisfy { past.areApart(part(found), part($0)) } ? found : nil
    }

    /// Returns the beginning and the end as far as they are clear: a beginning at the window's start, or an end at the window's end,
    /// would be less likely by more than `needed`.
    private func clear(_ likeliest: Range<Int>, needed: Double) -> Range<Int> {
        let gain = gains[likeliest.lowerBound, likeliest.upperBound] ?? 0
        let fromStart = best(0...0, 1...length), toEnd = best(0...length - 1, length...length)
        let isLate = gain - (fromStart?.gain ?? -.infinity) >= needed
        let isEarly = gain - (toEnd?.gain ?? -.infinity) >= needed
        return switch (isLate, isEarly) {
        case (true, true): likeliest
        case (true, false): toEnd?.range ?? likeliest
        case (false, true): fromStart?.range ?? likeliest
        case (false, false): 0..<length
        }
    }

    private func best(_ firsts: ClosedRange<Int>, _ ends: ClosedRange<Int>) -> (range: Range<Int>, gain: Double)? {
        var best: (range: Range<Int>, gain: Double)?
        for first in firsts {
            for end in ends where end > first {
                guard let gain = gains[first, end], gain > best?.gain ?? -.infinity else { continue }
                best = (first..<end, gain)
            }
        }
        return best
    }

    /// Returns whether a beginning after the first quarter of the window would have been found (``change(_:needed:awayBy:)``).
    func wouldBeFound(needed: Double, awayBy past: PastOfOnset? = nil) -> Bool {
        let after = window.sum
        let (low, high, quarter) = (before.share, after.share, after.all / 4)
        let middle = (low + 3 * high) / 4
        func gain(_ share: Double, _ count: Double) -> Double {
            func term(_ share: Double, _ middle: Double) -> Double { share * log(max(share, 1e-9) / max(middle, 1e-9)) }
            return count * (term(share, middle) + term(1 - share, 1 - middle))
        }
        guard gain(low, quarter) + gain(high, 3 * quarter) >= needed else { return false }
        func part(_ share: Double, _ quarters: Double) -> PastOfOnset.Part {
            (SignalCounts(share * quarters * quarter, of: quarters * quarter), quarters * Double(length) / 4)
        }
        return past.map { $0.areApart(part(high, 3), part(low, 1)) } ?? true
    }

    /// Returns the beginnings that are about as likely, for the same end.
    func beginnings(of range: Range<Int>, within gain: Double) -> ClosedRange<Int> {
        let least = (gains[range.lowerBound, range.upperBound] ?? 0) - gain
        let likely = (0..<range.upperBound).filter { (gains[$0, range.upperBound] ?? -.infinity) >= least }
        return (likely.first ?? range.lowerBound)...(likely.last ?? range.lowerBound)
    }
}

extension SignalCounts {
    /// The log-likelihood of the counts at their own share.
    fileprivate var logLikelihood: Double {
        func part(_ count: Double) -> Double { count > 0 ? count * log(count / all) : 0 }
        return all > 0 ? part(having) + part(all - having) : 0
    }
}

extension ComparedWindows {
    /// Returns the signal among some whose share moved most.
    package func mostChanged(_ signals: [RequestSignal]) -> RequestSignal {
        func distance(_ signal: RequestSignal) -> Double { abs(after(signal).angle - before(signal).angle) }
        return signals.max { distance($0) < distance($1) } ?? .failures
    }

    /// Returns when a change that was found began and ended.
    package func onset(_ signal: RequestSignal, _ direction: ChangeDirection) -> ChangeOnset? {
        let slots = history.groups(signal, to: end, slots: 2 * length, by: 1)
        let noise = noise?[signal, VerdictConstants.blockMinutes]
        return ChangeOnset(
            slots, length: length, direction, noise: max(noise?.worse ?? 0, noise?.better ?? 0),
            slotMinutes: history.slotMinutes)
    }
}
