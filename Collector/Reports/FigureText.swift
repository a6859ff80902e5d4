import Foundation

/// Figures for human eyes: three or four digits and a unit.
enum FigureText {
    static func milliseconds(_ value: Double) -> String {
        switch value {
        case ..<1: fixed(value, 3) + " ms"
        case ..<100: fixed(value, 1) + " ms"
        case ..<10_000: fixed(value, 0) + " ms"
        default: fixed(value / 1000, 1) + " s"
        }
    }

    static func percent(_ share: Double) -> String {
        fixed(share * 100, 2) + " %"
    }

    /// Rounded down: what is not complete must not read as 100 %.
    static func completeness(_ share: Double) -> String {
        fixed((share * 10_000).rounded(.down) / 100, 2) + " %"
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

    static func fixed(_ value: Double, _ digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}
