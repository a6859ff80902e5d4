import MartletTelemetry

/// How satisfied callers are, 0...1 (Apdex Technical Specification 1.1): a request within ``target`` counts whole, one
/// within four times as long half, a slower one and a failed one not at all.
package enum Apdex {
    /// Seconds.
    package static let target = 0.5

    /// 1 when there were no requests, for nobody was kept waiting. A cancelled request counts by how long it was waited
    /// for.
    static func score(unfailed: ExponentialHistogram, failed: UInt64) -> Double {
        let all = unfailed.count &+ failed
        guard all > 0 else { return 1 }
        let satisfied = Double(unfailed.countOfValues(upTo: target))
        let tolerated = Double(unfailed.countOfValues(upTo: 4 * target)) - satisfied
        return (satisfied + tolerated / 2) / Double(all)
    }
}
