import MartletStorage
import MartletTelemetry

/// Checks an objective, such as 99.9 % of requests without failure, by the pace at which failures use up the error budget,
/// which is the failures that the objective allows. A pace of 1 uses up the budget of 30 days in 30 days.
///
/// The objective is in danger if the pace is high in a long window, and still high in a short window at its end (Google: "The Site
/// Reliability Workbook", chapter 5, "Multiwindow, Multi-Burn-Rate Alerts").
package struct BurnRateCheck: Sendable, Equatable {
    /// The share of requests that have to succeed, between 0 and 1.
    let objective: Double
    private let pair: Pair

    /// Two windows and the pace limit of both.
    private struct Pair: Sendable, Equatable {
        /// Seconds.
        var long: UInt64
        var short: UInt64
        var limit: Double
    }

    /// The pairs from the workbook: for 2 and 5 % of a month's budget in the long window, and for 10 % in three days.
    private static let pairs = [
        Pair(long: 259_200, short: 21_600, limit: 1), Pair(long: 21_600, short: 1800, limit: 6),
        Pair(long: 3600, short: 300, limit: 14.4),
    ]

    /// Picks the longest pair that fits into a window.
    ///
    /// - Parameter objective: between 0 and 1.
    package init(objective: Double, in window: TimeWindow) throws(ParameterError) {
        guard let pair = Self.pairs.first(where: { Double($0.long) <= window.seconds }) else {
            throw ParameterError("slo needs a window of at least 1h")
        }
        (self.objective, self.pair) = (objective, pair)
        guard allowed < 1 else {
            throw ParameterError(
                "slo allows so many failures that the burn rate cannot reach \(FigureText.figure(pair.limit)); use a window"
                    + " of 3d")
        }
    }

    /// Returns the long and the short window, which end at a time of the collector's clock.
    package func windows(endingAt end: UnixNanoseconds) -> (long: TimeWindow, short: TimeWindow) {
        func window(_ seconds: UInt64) -> TimeWindow {
            TimeWindow(from: end - min(end, seconds * 1_000_000_000), to: end)
        }
        return (window(pair.long), window(pair.short))
    }

    /// Judges outgoing and incoming requests separately. If there are no requests, the only result is that there is not enough
    /// data.
    ///
    /// - Parameters:
    ///   - long, short: the reports on both windows.
    package func results(long: Report, short: Report) -> [CheckResult] {
        guard !long.totalsByKind.isEmpty else {
            return [
                CheckResult(
                    .unknown, "There were no requests in the last \(Self.text(pair.long)), so slo cannot be checked.")
            ]
        }
        return RequestKind.allCases.compactMap { kind in
            long.totalsByKind[kind].map { total in
                let latest = short.totalsByKind[kind]?.measures.failures.rate
                return result(
                    kind, PossibleRate(total.measures.failures.rate, completeness: long.completeness),
                    latest.map { PossibleRate($0, completeness: short.completeness) }, long.completenessInWords)
            }
        }
    }

    /// The share of failed requests that both windows may have.
    private var allowed: Double { pair.limit * (1 - objective) }

    private func result(
        _ kind: RequestKind, _ long: PossibleRate, _ short: PossibleRate?, _ completeness: String
    ) -> CheckResult {
        let outcome: CheckResult.Outcome =
            switch (long.isAtMost(allowed), short.flatMap { $0.isAtMost(allowed) }) {
            case (true, _), (_, true): .holds
            case (false, false): .fails
            default: .unknown
            }
        let latest = short.map { " and \(pace($0)) over the last \(Self.text(pair.short))" }
        let sentence = """
            The burn rate of \(KindTotal.title(kind).lowercased()) requests is \(pace(long)) over \(Self.text(pair.long))\
            \(latest ?? ", without requests in the last \(Self.text(pair.short))") \
            (objective \(FigureText.percent(objective)) %, limit \(FigureText.figure(pair.limit)) over both, \(completeness)).
            """
        return CheckResult(outcome, sentence)
    }

    private func pace(_ rate: PossibleRate) -> String { FigureText.figure(rate.seen / (1 - objective)) }

    private static func text(_ seconds: UInt64) -> String { FigureText.age(seconds) }
}
