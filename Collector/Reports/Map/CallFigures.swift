import MartletStorage

/// The requests of an edge as one of its ends counted them.
package struct CallFigures: Sendable, Equatable, Codable {
    package var count: UInt64
    package var perSecond: Double
    package var failures: RequestMeasures.Failures
    /// Milliseconds.
    package var latency: RequestMeasures.Latency

    private enum CodingKeys: String, CodingKey {
        case count, failures
        case perSecond = "per_second"
        case latency = "latency_ms"
    }

    /// - Parameter seconds: the length of the window.
    init(_ group: RequestGroup, seconds: Double) {
        let measures = group.measures(seconds: seconds)
        (count, perSecond) = (measures.count, measures.perSecond)
        (failures, latency) = (measures.failures, measures.latency)
    }
}
