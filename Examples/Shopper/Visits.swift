/// The results of the errands.
struct Visits: Sendable {
    private struct Outcome: Hashable {
        var errand: String
        var status: Int?
    }

    private var counts: [Outcome: Int] = [:]
    private var upstreamRequests = 0

    /// Counts an errand.
    ///
    /// - Parameter status: The status of the answer; `nil` if no answer came.
    mutating func add(_ errand: Errand, status: Int?) {
        counts[Outcome(errand: errand.name, status: status), default: 0] += 1
        upstreamRequests += errand.upstreamRequests
    }

    mutating func add(_ other: Visits) {
        counts.merge(other.counts, uniquingKeysWith: +)
        upstreamRequests += other.upstreamRequests
    }

    var hasAnswers: Bool { counts.keys.contains { $0.status != nil } }

    var table: String {
        let lines = counts.map { outcome, count in
            "  \(outcome.errand)  \(outcome.status.map(String.init) ?? "no answer")  \(count)"
        }
        return (lines.sorted() + ["upstream requests for these visits: \(upstreamRequests)"]).joined(separator: "\n")
    }
}
