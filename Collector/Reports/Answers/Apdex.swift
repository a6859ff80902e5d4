import MartletTelemetry

/// The satisfaction of callers, 0...1 (Apdex Technical Specification 1.1): a request within ``target`` counts whole, a
/// request within four times as long counts half, a slower or failed one not at all.
package enum Apdex {
    /// The longest duration of a satisfied caller's request, in seconds.
    package static let target = 0.5

    /// Returns 1 if there were no requests, because no caller was kept waiting. A cancelled request counts by its duration
    /// until it was cancelled.
    static func score(unfailed: ExponentialHistogram, failed: UInt64) -> Double {
        let all = unfailed.count &+ failed
        guard all > 0 else { return 1 }
        let satisfied = Double(unfailed.countOfValues(upTo: target))
        let tolerated = Double(unfailed.countOfValues(upTo: 4 * target)) - satisfied
        return (satisfied + tolerated / 2) / Double(all)
    }
}
