import MartletTelemetry

/// The measurement of requests in one point.
enum PointMeasure {
    case duration(ExponentialHistogram)
    case bytesSent(UInt64)
    case bytesReceived(UInt64)
}

extension RequestStatistics {
    /// The statistics of a cumulative point.
    init(_ measure: PointMeasure) {
        self.init()
        switch measure {
        case .duration(let duration): self.duration = duration
        case .bytesSent(let bytes): bytesSent = bytes
        case .bytesReceived(let bytes): bytesReceived = bytes
        }
    }

    /// Adds the measurement of a delta point of the same requests.
    mutating func add(_ measure: PointMeasure) {
        switch measure {
        case .duration(let duration): self.duration.merge(duration.distributed)
        case .bytesSent(let bytes): bytesSent &+= bytes
        case .bytesReceived(let bytes): bytesReceived &+= bytes
        }
    }
}
