/// A duration in milliseconds, the unit of reports.
enum Milliseconds {
    /// Converts seconds. A sender's bucket may reach past the largest Double, and JSON has no infinity.
    static func of(_ seconds: Double) -> Double {
        min(max(seconds * 1000, 0), .greatestFiniteMagnitude)
    }
}
