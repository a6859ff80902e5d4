/// A verdict in words, the same in every output.
package enum VerdictText {
    /// Returns a sign of one character to put before a row.
    package static func sign(_ verdict: Verdict) -> String {
        switch verdict {
        case .worse: "▲"
        case .better: "▼"
        case .noChangeFound: "="
        case .tooLittleData: "…"
        }
    }

    package static func word(_ verdict: Verdict) -> String {
        switch verdict {
        case .worse: "worse"
        case .better: "better"
        case .noChangeFound: "no change found"
        case .tooLittleData: "not enough data"
        }
    }

    static func tone(_ verdict: Verdict) -> Tone? {
        switch verdict {
        case .worse: .red
        case .better: .green
        case .noChangeFound: nil
        case .tooLittleData: .dim
        }
    }

    /// Returns the figures that changed, such as `failures 3.2 → 8.3 %, p95 123 → 811 ms`; empty if none did.
    package static func changes(_ verdict: Verdict) -> String {
        guard case .worse(let changes) = verdict else {
            guard case .better(let changes) = verdict else { return "" }
            return text(of: changes)
        }
        return text(of: changes)
    }

    /// Returns why a row is neither worse nor better: the changes that would have been detected, or what data is missing. Empty
    /// for other rows.
    package static func why(_ verdict: Verdict) -> String {
        switch verdict {
        case .worse, .better: ""
        case .noChangeFound(let smallest): wouldHaveSeen([smallest])
        case .tooLittleData(let shortage): text(of: shortage)
        }
    }

    private static func text(of changes: Verdict.Changes) -> String {
        let quantiles = [("p50", changes.p50), ("p95", changes.p95), ("p99", changes.p99)].compactMap { name, change in
            change.map { "\(name) \(figures($0.before, $0.after)) ms" }
        }
        let failures = changes.failures.map { "failures \(figures($0.before * 100, $0.after * 100)) %" }
        return ([failures].compactMap { $0 } + quantiles).joined(separator: ", ")
    }

    /// Returns two figures with an arrow between them.
    private static func figures(_ before: Double, _ after: Double) -> String {
        "\(FigureText.figure(before)) → \(FigureText.figure(after))"
    }

    private static func text(of shortage: Verdict.Shortage) -> String {
        switch shortage {
        case .requests(0, .before): "new: no requests before"
        case .requests(let requests, let window):
            "\(FigureText.counted(requests, "request")) \(name(window)), \(Int(VerdictConstants.minRequests)) needed"
        case .minutes(let minutes, let window):
            "requests in \(FigureText.counted(minutes, "minute")) \(name(window)), \(Int(VerdictConstants.minMinutes)) needed"
        }
    }

    private static func name(_ window: Verdict.Window) -> String {
        switch window {
        case .before: "before"
        case .after: "now"
        }
    }

    // MARK: Detectable changes

    /// The largest detectable rise of p95 that is a fact about a row: to ten times. A row that would only show a larger one has too
    /// few requests.
    private static let largestRise = 9.0

    /// Returns the smallest detectable changes of some rows, as ranges from the smallest to the largest.
    package static func wouldHaveSeen(_ changes: [Verdict.SmallestChange]) -> String {
        let rises = changes.map { $0.p95.flatMap { $0 <= largestRise ? $0 : nil } }
        let p95 = range(rises).map { "of \($0) % in p95" }
        let failures = range(changes.map(\.failures)).map { "of \($0) points in failures" }
        let seen = [p95, failures].compactMap { $0 }
        guard !seen.isEmpty else { return "too few requests to detect any change" }
        return "a rise \(seen.joined(separator: " or ")) would have been detected"
            + blind("p95", rises.count { $0 == nil }, of: changes.count)
            + blind("failures", changes.count { $0.failures == nil }, of: changes.count)
    }

    /// Returns `13`, or `13 to 40` if the changes differ; `nil` if there are none.
    private static func range(_ changes: [Double?]) -> String? {
        let known = changes.compactMap { $0 }
        guard let least = known.min(), let most = known.max() else { return nil }
        let (from, to) = (FigureText.rounded(least * 100), FigureText.rounded(most * 100))
        return from == to ? from : "\(from) to \(to)"
    }

    private static func blind(_ figure: String, _ count: Int, of all: Int) -> String {
        guard count > 0 else { return "" }
        return "; too few requests to judge \(figure)" + (all == 1 ? "" : " in \(count) of them")
    }
}

/// The carriers of a change in words.
package enum ChangeCarriersText {
    /// The sentence if no value carries the change.
    package static let nobody = "nothing that is counted sets them apart"

    /// Returns the name of a value: `version 1.9.0`, `caller checkout`.
    package static func name(_ carrier: ChangeCarriers.Carrier) -> String {
        "\(carrier.property.rawValue) \(carrier.value)"
    }

    /// Returns the values for the end of a line, such as `: instance i-7 (58.00 %, others 1.20 %)`; empty if none were searched.
    static func ending(_ who: ChangeCarriers?) -> String {
        guard let who else { return "" }
        guard !who.values.isEmpty else { return ": \(nobody)" }
        let parts = who.values.map { carrier in
            let (share, others) = (FigureText.percent(carrier.count.rate), FigureText.percent(carrier.others.rate))
            return "\(name(carrier)) (\(share) %, others \(others) %)"
        }
        return ": " + NameList.text(parts)
    }
}
