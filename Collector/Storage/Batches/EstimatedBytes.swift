import MartletPoints
import MartletTelemetry

extension InstanceMetrics {
    /// Roughly the memory that they take, in bytes.
    package var estimatedBytes: Int {
        points.indices.reduce(1024) { $0 + points[$1].statistics.estimatedBytes }
            + cumulative.reduce(0) { $0 + $1.point.statistics.estimatedBytes }
            + 512 * (process.count + processTotals.count)
    }
}

extension DetailsBatch {
    /// Roughly the memory that it takes, in bytes.
    package var estimatedBytes: Int { details.reduce(1024) { $0 + $1.estimatedBytes } }
}

extension SpanRecord {
    fileprivate var estimatedBytes: Int {
        let ofAttributes = attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.estimatedBytes }
        return 1024 + url.utf8.count + ofAttributes + 512 * (events.count + links.count)
    }
}

extension SpanAttribute {
    fileprivate var estimatedBytes: Int {
        switch self {
        case .string(let text): 64 + text.utf8.count
        case .integer, .double, .boolean: 64
        case .array(let elements): elements.reduce(64) { $0 + $1.estimatedBytes }
        }
    }
}
