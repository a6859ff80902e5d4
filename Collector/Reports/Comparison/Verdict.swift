/// The answer to the question whether a row of a report has changed from one window to another.
package enum Verdict: Sendable, Equatable {
    /// At least one of the changes is for the worse.
    case worse(Changes)
    /// All of the changes are for the better.
    case better(Changes)
    case noChangeFound(wouldHaveSeen: SmallestChange)
    case tooLittleData(Shortage)

    /// The figures that changed; `nil` for each that did not, or not enough to be worth a word.
    package struct Changes: Sendable, Equatable, Codable {
        /// The share of failed requests, 0...1.
        package var failures: Change<Double>?
        package var p50: Change<Quantile>?
        package var p95: Change<Quantile>?
        package var p99: Change<Quantile>?
        /// Cliff's delta of all durations, -1...1: the probability that a request after took longer than one before, less
        /// the probability that it took less time.
        package var cliffsDelta: Double

        private enum CodingKeys: String, CodingKey {
            case failures
            case p50 = "p50_ms"
            case p95 = "p95_ms"
            case p99 = "p99_ms"
            case cliffsDelta = "cliffs_delta"
        }
    }

    package struct Change<Value: Sendable & Equatable & Codable>: Sendable, Equatable, Codable {
        package var before: Value
        package var after: Value
    }

    /// A quantile of durations, in milliseconds.
    package struct Quantile: Sendable, Equatable {
        package var value: Double
        /// The interval that has the true quantile in 95 of 100 cases.
        package var interval: ClosedRange<Double>
    }

    /// The smallest changes for the worse that are found in more than 8 of 10 cases.
    package struct SmallestChange: Sendable, Equatable, Codable {
        /// The difference between two shares of failed requests, 0...1: 0.024 are 2.4 points. `nil` if no difference would
        /// have been found.
        package var failures: Double?
        /// The part by which all durations grow, and so does p95: 0.13 is 13 %. `nil` if no growth would have been found.
        package var p95: Double?
    }

    /// The reason why there is too little data, in the window that has less.
    package enum Shortage: Sendable, Equatable {
        /// There are fewer than ``Comparison/minRequests`` requests.
        case requests(UInt64, in: Window)
        /// There are requests in fewer than ``Comparison/minBlocks`` blocks.
        case blocks(Int, in: Window)
    }

    package enum Window: String, Sendable, Equatable, Codable {
        case before
        case after
    }
}
