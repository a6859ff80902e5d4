import MartletReports

/// The difference between two figures, as a person says it.
enum ChangeText {
    /// Returns `+2.1 %`, or `× 6.6` for a figure that at least doubled or halved. A figure that was 0 has no ratio.
    static func ratio(_ after: Double, _ before: Double) -> String {
        guard before > 0, after.isFinite, before.isFinite else { return after > 0 ? "from none" : "no change" }
        let ratio = after / before
        guard ratio > 0.5, ratio < 2 else { return "× \(FigureText.figure(ratio))" }
        return signed((ratio - 1) * 100, digits: 1) + " %"
    }

    static func ratio(_ after: UInt64, _ before: UInt64) -> String { ratio(Double(after), Double(before)) }

    /// Returns the difference of two shares in points of a per cent: `+5.08 pt`.
    static func points(_ after: Double, _ before: Double) -> String {
        signed((after - before) * 100, digits: 2) + " pt"
    }

    /// Returns `+89.9`, `−0.2`, `0.0`.
    static func signed(_ value: Double, digits: Int) -> String {
        guard value.isFinite else { return "–" }
        let text = FigureText.fixed(abs(value), digits)
        guard text.contains(where: { ("1"..."9").contains($0) }) else { return text }
        return (value < 0 ? "−" : "+") + text
    }
}
