/// The level at which results of many tests count, so that of all that count one in a hundred is false on average
/// (Benjamini and Hochberg: "Controlling the False Discovery Rate", Journal of the Royal Statistical Society B 57, 1995).
struct FalseDiscoveryRate {
    static let rate = 0.01

    /// Results whose p-value is at most this count; 0 if none does.
    let level: Double
    /// The p-value at which one more result would have counted.
    let levelOfOneMore: Double

    init(_ pValues: [Double]) {
        let sorted = pValues.sorted()
        let share = Self.rate / Double(max(sorted.count, 1))
        let counting = sorted.indices.last { sorted[$0] <= share * Double($0 + 1) }.map { $0 + 1 } ?? 0
        level = share * Double(counting)
        levelOfOneMore = share * Double(min(counting + 1, max(sorted.count, 1)))
    }
}
