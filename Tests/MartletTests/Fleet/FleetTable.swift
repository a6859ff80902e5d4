import Foundation

/// The table of docs/internals/uploads.md: an outage of an hour, by strategy.
enum FleetTable {
    /// The size of the fleet, from `MARTLET_FLEET`; `nil` for no table.
    static let agents = ProcessInfo.processInfo.environment["MARTLET_FLEET"].flatMap { Int($0) }

    static func rows() -> some Sequence<String> {
        [
            "| capacity | Retry-After | waits | pauses | half | all | 429 | slowest answer |",
            "|---|---|---|---|---|---|---|---|",
        ] + situations.lazy.map(row)
    }

    private static var situations: [Fleet.Terms] {
        var all: [Fleet.Terms] = []
        for (capacity, retryAfter) in [(2.0, 1.0), (2, 60), (5, 1)] {
            for (isJittered, isPaced) in [(false, false), (true, false), (false, true), (true, true)] {
                var terms = Fleet.Terms(agents: agents ?? 0, capacity: capacity)
                (terms.retryAfter, terms.isJittered, terms.isPaced) = (retryAfter, isJittered, isPaced)
                all.append(terms)
            }
        }
        return all + [Fleet.Terms(agents: agents ?? 0, collectors: 2)]
    }

    private static func row(_ terms: Fleet.Terms) -> String {
        var fleet = Fleet(terms)
        let result = fleet.run()
        let slowest = Double(result.collectors.map(\.longestAnswer).max() ?? 0) / 1e9
        return """
            | \(terms.capacity)\(terms.collectors > 1 ? ", \(terms.collectors) collectors" : "") \
            | \(Int(terms.retryAfter)) s | \(terms.isJittered ? "random" : "fixed") | \(terms.isPaced ? "yes" : "no") \
            | \(minutes(result.half)) | \(minutes(result.all)) | \(result.collectors.reduce(0) { $0 + $1.refusals }) \
            | \(String(format: "%.1f", slowest)) s |
            """
    }

    private static func minutes(_ seconds: Double) -> String {
        seconds.isFinite ? String(format: "%.1f min", seconds / 60) : "never"
    }
}
