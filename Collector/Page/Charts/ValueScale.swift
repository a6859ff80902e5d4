import Foundation
import MartletReports

/// The vertical axis of a chart, from 0 or from the smallest value on. Places are pixels from the top.
struct ValueScale: Sendable {
    struct Tick: Sendable, Equatable {
        let value: Double
        let y: Double
    }

    /// The places of the axis's two ends.
    let top: Double
    let bottom: Double
    private let range: ClosedRange<Double>
    private let isLogarithmic: Bool
    private let values: [Double]

    /// An axis from 0 to a round number that no value is above, and to 1 if all values are 0.
    ///
    /// - Parameters:
    ///   - least: the smallest end of the axis. By default its labels have the four decimal places of ``Figure/tick(_:)``.
    ///   - isBinary: whether the numbers are round in units of bytes, each of which is 1024 of the one before.
    static func linear(
        _ values: [Double], top: Double, bottom: Double, least: Double = 3e-4, isBinary: Bool = false
    ) -> ValueScale {
        let largest = values.filter(\.isFinite).max() ?? 0
        let most = largest > 0 ? max(largest, least) : 1
        let unit = isBinary ? pow(1024, (log2(max(most, 1)) / 10).rounded(.down)) : 1
        let step = RoundNumber.notBelow(most / unit / 3) * unit
        let steps = max(1, (most / step - 1e-9).rounded(.up))
        return ValueScale(
            top: top, bottom: bottom, range: 0...(steps * step), isLogarithmic: false,
            values: (0...Int(steps)).map { Double($0) * step })
    }

    /// An axis on which equal distances are equal factors, between round numbers.
    static func logarithmic(_ values: [Double], top: Double, bottom: Double) -> ValueScale {
        let known = values.filter { $0.isFinite && $0 > 0 }
        let least = RoundNumber.notAbove(min(max(known.min() ?? 1, 1e-6), 1e15))
        let most = max(RoundNumber.notBelow(min(max(known.max() ?? 10, 1e-6), 1e15)), least * 2)
        var ticks = RoundNumber.all(from: least, to: most, digits: [1, 2, 5])
        if ticks.count > 7 { ticks = RoundNumber.all(from: least, to: most, digits: [1]) }
        let every = (ticks.count + 6) / 7
        return ValueScale(
            top: top, bottom: bottom, range: least...most, isLogarithmic: true,
            values: ticks.enumerated().filter { $0.offset % max(1, every) == 0 }.map(\.element))
    }

    var ticks: [Tick] { values.map { Tick(value: $0, y: y($0)) } }

    /// Returns the place of a value. One outside of the axis is at its end, and so is one that is no number.
    func y(_ value: Double) -> Double { bottom - share(value) * (bottom - top) }

    private func share(_ value: Double) -> Double {
        guard value > range.lowerBound else { return 0 }
        guard value < range.upperBound else { return 1 }
        guard isLogarithmic else { return value / range.upperBound }
        return log(value / range.lowerBound) / log(range.upperBound / range.lowerBound)
    }
}

/// Numbers with one digit that is not 0: 1, 2 and 5 times powers of ten.
private enum RoundNumber {
    private static let tolerance = 1e-9

    static func notBelow(_ value: Double) -> Double {
        let power = power(below: value)
        return ([1, 2, 5, 10] as [Double]).map { $0 * power }.first { $0 >= value * (1 - tolerance) } ?? value
    }

    static func notAbove(_ value: Double) -> Double {
        let power = power(below: value)
        return ([10, 5, 2, 1] as [Double]).map { $0 * power }.first { $0 <= value * (1 + tolerance) } ?? value
    }

    static func all(from least: Double, to most: Double, digits: [Double]) -> [Double] {
        let exponents = Int(log10(least).rounded(.down))...Int(log10(most).rounded(.up))
        var numbers: [Double] = []
        for exponent in exponents {
            let power: Double = pow(10, Double(exponent))
            numbers += digits.map { $0 * power }
        }
        return numbers.filter { $0 >= least * (1 - tolerance) && $0 <= most * (1 + tolerance) }
    }

    private static func power(below value: Double) -> Double { pow(10, log10(value).rounded(.down)) }
}
