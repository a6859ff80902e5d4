/// A share as a bar of blocks, in eighths of a character.
enum ShareBar {
    private static let eighths = Array("▏▎▍▌▋▊▉█")
    private static let width = 3

    /// Returns a full bar for a share of `full`. A share that is not 0 has an eighth at least.
    static func text(_ share: Double, full: Double) -> String {
        guard share > 0, full > 0 else { return "" }
        let filled = max(1, Int((min(share / full, 1) * Double(width * eighths.count)).rounded()))
        let (whole, rest) = filled.quotientAndRemainder(dividingBy: eighths.count)
        return String(repeating: eighths[eighths.count - 1], count: whole)
            + (rest > 0 ? String(eighths[rest - 1]) : "")
    }
}
