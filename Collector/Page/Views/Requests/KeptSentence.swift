import MartletReports

/// The number of requests that there were, and of those that are kept, in a sentence.
struct KeptSentence {
    let list: RequestList

    private var kept: UInt64 { UInt64(list.report.count) }

    var text: String {
        guard let counted = list.counted else {
            return kept == 0
                ? "No kept request matches."
                : "\(FigureText.counted(kept, "kept request")) \(kept == 1 ? "matches" : "match")."
        }
        if list.filters.contains(where: { $0.name == .failed }), counted.all > 0 || kept > 0 {
            guard counted.failed > 0 || kept > 0 else { return "None failed \(list.visit.period)." }
            return "\(FigureText.grouped(counted.failed)) failed \(list.visit.period); \(share(of: counted.failed))."
        }
        guard counted.all > 0 || kept > 0 else {
            return "No \(list.filters.isEmpty ? "requests" : "such request") \(list.visit.period)."
        }
        return "\(Self.requests(counted)) \(list.visit.period); \(share(of: counted.all))."
    }

    /// Made and served requests stay apart, because a client and a server may both have counted one request.
    private static func requests(_ counted: CountedRequests) -> String {
        let sides = [(counted.made, "made"), (counted.served, "served")].filter { $0.0 > 0 }
        guard let first = sides.first else { return "No requests" }
        let rest = sides.dropFirst().map { " and \(FigureText.grouped($0.0)) \($0.1)" }.joined()
        return "\(FigureText.counted(first.0, "request")) \(first.1)\(rest)"
    }

    private func share(of count: UInt64) -> String {
        switch kept {
        case 0: count == 1 ? "it is not kept" : "none of them is kept"
        // Requests are kept by the senders' clocks and counted by intervals, so a few more may be kept.
        case count...: kept == 1 ? "it is kept" : "all of them are kept"
        case 1: "1 of them is kept"
        default: "\(FigureText.grouped(kept)) of them are kept"
        }
    }
}

extension Visit {
    /// The window in words that end a sentence.
    var period: String {
        let since = parameters[.since] ?? PageParameter.defaultSince
        if parameters[.until] == nil, let length = TimeText.nanoseconds(since) {
            return "in the last \(FigureText.age(length / 1_000_000_000))"
        }
        return "from \(TimeText.format(window.from)) to \(TimeText.format(window.to))"
    }
}
