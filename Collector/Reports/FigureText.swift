import Foundation

/// Figures for a person: three or four digits and a unit.
enum FigureText {
    static func milliseconds(_ value: Double) -> String {
        switch value {
        case ..<1: fixed(value, 3) + " ms"
        case ..<100: fixed(value, 1) + " ms"
        case ..<10_000: fixed(value, 0) + " ms"
        default: fixed(value / 1000, 1) + " s"
        }
    }

    static func seconds(_ value: Double) -> String {
        switch value {
        case ..<120: fixed(value, 1) + " s"
        case ..<7200: fixed(value / 60, 1) + " min"
        default: fixed(value / 3600, 1) + " h"
        }
    }

    static func percent(_ share: Double) -> String {
        fixed(share * 100, 2) + " %"
    }

    /// Rounds down, so that an incomplete share never reads as 100 %. For a share such as 0.57 the multiplication may return
    /// slightly less than the whole number.
    static func completeness(_ share: Double) -> String {
        let hundredths = share < 1 ? min((share * 10_000).nextUp.rounded(.down), 9_999) : 10_000
        return fixed(hundredths / 100, 2) + " %"
    }

    static func perSecond(_ value: Double) -> String {
        fixed(value, value < 10 ? 3 : 1) + "/s"
    }

    static func bytes(_ count: UInt64) -> String {
        var value = Double(count)
        for unit in ["B", "KiB", "MiB", "GiB"] {
            if value < 1024 { return fixed(value, unit == "B" ? 0 : 1) + " " + unit }
            value /= 1024
        }
        return fixed(value, 1) + " TiB"
    }

    /// Returns the text that `printf` writes, ten times as fast: a table has tens of thousands of figures.
    static func fixed(_ value: Double, _ digits: Int) -> String {
        let power = (0..<digits).reduce(1.0) { power, _ in power * 10 }
        let scaled = value * power
        guard value.sign == .plus, scaled < 0x1p53 else { return String(format: "%.\(digits)f", value) }
        var whole = scaled.rounded(.down)
        // On a tie the error that the multiplication rounded away decides; without an error the even number is taken.
        let error = (-scaled).addingProduct(value, power)
        let isOdd = UInt64(whole) & 1 == 1
        if scaled - whole > 0.5 || (scaled - whole == 0.5 && (error > 0 || (error == 0 && isOdd))) { whole += 1 }
        let (integer, fraction) = UInt64(whole).quotientAndRemainder(dividingBy: UInt64(power))
        guard digits > 0 else { return String(integer) }
        // The 1 in front keeps the fraction's leading zeros.
        return "\(integer)." + String(UInt64(power) + fraction).dropFirst()
    }
}
