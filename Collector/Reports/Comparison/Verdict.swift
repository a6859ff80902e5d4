import MartletStorage

/// Whether a row of a report has changed from one window to another.
package enum Verdict: Sendable, Equatable {
    /// At least one of the changes is for the worse.
    case worse(Changes)
    /// All of the changes are for the better.
    case better(Changes)
    case noChangeFound(wouldHaveSeen: SmallestChange)
    case tooLittleData(Shortage)

    /// The figures that changed; `nil` for a figure that did not, or changed too little to report.
    package struct Changes: Sendable, Equatable, Codable {
        /// The share of failed requests, 0...1.
        package var failures: Change?
        /// Milliseconds.
        package var p50: Change?
        package var p95: Change?
        package var p99: Change?

        private enum CodingKeys: String, CodingKey {
            case failures
            case p50 = "p50_ms"
            case p95 = "p95_ms"
            case p99 = "p99_ms"
        }

        package init(failures: Change? = nil, p50: Change? = nil, p95: Change? = nil, p99: Change? = nil) {
            (self.failures, self.p50, self.p95, self.p99) = (failures, p50, p95, p99)
        }
    }

    package struct Change: Sendable, Equatable, Codable {
        package var before: Double
        package var after: Double

        package init(before: Double, after: Double) {
            (self.before, self.after) = (before, after)
        }
    }

    /// The smallest changes for the worse that are found in more than 8 of 10 cases.
    package struct SmallestChange: Sendable, Equatable, Codable {
        /// The difference between two shares of failed requests, 0...1: 0.024 are 2.4 points. `nil` if no difference would have
        /// been detected.
        package var failures: Double?
        /// The growth of all durations, and so of p95: 0.13 is 13 %. `nil` if no growth would have been detected.
        package var p95: Double?
    }

    /// Why there is not enough data, for the window that has less of it.
    package enum Shortage: Sendable, Equatable {
        /// There are fewer than ``VerdictConstants/minRequests`` requests.
        case requests(UInt64, in: Window)
        /// The row is new, and its requests are in fewer than ``VerdictConstants/minMinutes`` minutes.
        case minutes(Int, in: Window)
    }

    package enum Window: String, Sendable, Equatable, Codable {
        case before
        case after
    }
}

/// A verdict in JSON: its answer, and the answer's fields next to it.
extension Verdict: Codable {
    private enum Answer: String, Codable {
        case worse, better, same
        case tooLittleData = "too_little_data"
    }

    private enum CodingKeys: String, CodingKey {
        case answer, reason
        case wouldHaveSeen = "would_have_seen"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(Answer.self, forKey: .answer) {
        case .worse: self = .worse(try Changes(from: decoder))
        case .better: self = .better(try Changes(from: decoder))
        case .same:
            self = .noChangeFound(wouldHaveSeen: try container.decode(SmallestChange.self, forKey: .wouldHaveSeen))
        case .tooLittleData: self = .tooLittleData(try container.decode(Shortage.self, forKey: .reason))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .worse(let changes):
            try container.encode(Answer.worse, forKey: .answer)
            try changes.encode(to: encoder)
        case .better(let changes):
            try container.encode(Answer.better, forKey: .answer)
            try changes.encode(to: encoder)
        case .noChangeFound(let smallest):
            try container.encode(Answer.same, forKey: .answer)
            try container.encode(smallest, forKey: .wouldHaveSeen)
        case .tooLittleData(let shortage):
            try container.encode(Answer.tooLittleData, forKey: .answer)
            try container.encode(shortage, forKey: .reason)
        }
    }
}

extension Verdict.Shortage: Codable {
    private enum CodingKeys: String, CodingKey {
        case requests, minutes, window
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let window = try container.decode(Verdict.Window.self, forKey: .window)
        if let requests = try container.decodeIfPresent(UInt64.self, forKey: .requests) {
            self = .requests(requests, in: window)
        } else {
            self = .minutes(try container.decode(Int.self, forKey: .minutes), in: window)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .requests(let requests, let window):
            try container.encode(requests, forKey: .requests)
            try container.encode(window, forKey: .window)
        case .minutes(let minutes, let window):
            try container.encode(minutes, forKey: .minutes)
            try container.encode(window, forKey: .window)
        }
    }
}

extension Verdict {
    /// How much a row changed; `nil` if it is neither worse nor better.
    var change: ChangeSize? {
        switch self {
        case .worse(let changes): ChangeSize(changes, isWorse: true)
        case .better(let changes): ChangeSize(changes, isWorse: false)
        case .noChangeFound, .tooLittleData: nil
        }
    }
}

/// How much a row changed. Worse rows are greater than better ones, and a change of failures is greater than one of durations.
struct ChangeSize: Comparable {
    let isWorse: Bool
    /// The change of the share of failed requests in the verdict's direction, 0...1; 0 if it did not change so.
    private let failures: Double
    /// The largest ratio of a quantile's two figures.
    private let ratio: Double

    init(_ changes: Verdict.Changes, isWorse: Bool) {
        self.isWorse = isWorse
        let rise = changes.failures.map { $0.after - $0.before } ?? 0
        failures = max(0, isWorse ? rise : -rise)
        ratio = [changes.p50, changes.p95, changes.p99].compactMap { $0 }.reduce(1) { largest, change in
            let (before, after) = (max(change.before, 1e-6), max(change.after, 1e-6))
            return max(largest, isWorse ? after / before : before / after)
        }
    }

    /// Whether failures changed; otherwise only durations did.
    var isOfFailures: Bool { failures > 0 }

    static func < (one: ChangeSize, other: ChangeSize) -> Bool {
        guard one.isWorse == other.isWorse else { return other.isWorse }
        return one.failures == other.failures ? one.ratio < other.ratio : one.failures < other.failures
    }
}
