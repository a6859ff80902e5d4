import MartletTelemetry

/// A point of a cumulative metric (OpenTelemetry specification, "Metrics Data Model", section Temporality). It has all values from
/// the start of its interval to the end, including those of earlier points.
package struct CumulativePoint: Sendable, Equatable {
    package var stream: StreamID
    /// The durations or the body sizes, depending on the metric. Its `start` is 0 if the sender gives none.
    package var point: RequestPoint
    /// The unit of the durations, in seconds. Durations keep the sender's unit until the difference is computed: see
    /// ``ExponentialHistogram/multiplied(by:)``.
    package var unit: Double

    package init(stream: StreamID, point: RequestPoint, unit: Double = 1) {
        self.stream = stream
        self.point = point
        self.unit = unit
    }
}

/// The identity of a stream among a sender's metrics: a hash of the instrumentation scope, the metric and all attributes. The
/// attributes include those that are not dimensions of a report (OpenTelemetry specification, "Metrics Data Model", section
/// Timeseries Model).
///
/// The hash has 128 bits: two of a million streams collide with a probability of about 10⁻²⁷.
package struct StreamID: Sendable, Hashable {
    /// FNV-1a, which gives the same hash in every process (draft-eastlake-fnv, section 5).
    private var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

    package init(hashing parts: [[UInt8]]) {
        add(parts)
    }

    /// Creates the identity from its ``bytes``.
    package init(bytes: [UInt8]) { hash = bytes.reduce(0) { $0 << 8 | UInt128($1) } }

    /// Returns the identity of this stream's parts followed by `parts`.
    package func adding(_ parts: [[UInt8]]) -> StreamID {
        var id = self
        id.add(parts)
        return id
    }

    private mutating func add(_ parts: [[UInt8]]) {
        for part in parts {
            // The length goes first, so that two different lists of parts never give the same bytes.
            add(Self.bytes(of: UInt64(part.count)))
            add(part)
        }
    }

    /// The lower half of the hash.
    package var word: UInt64 { UInt64(truncatingIfNeeded: hash) }

    /// The 16 bytes of the hash, highest byte first.
    package var bytes: [UInt8] {
        Self.bytes(of: UInt64(truncatingIfNeeded: hash >> 64)) + Self.bytes(of: UInt64(truncatingIfNeeded: hash))
    }

    private mutating func add(_ bytes: [UInt8]) {
        for byte in bytes { hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b }
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}

extension RequestStatistics {
    /// Returns the requests since `earlier`. They have no phases, because no cumulative metric reports phases. Returns `nil` if
    /// a figure has fallen, because `earlier` is then not an earlier state of the same metric.
    package func difference(since earlier: RequestStatistics) -> RequestStatistics? {
        guard bytesSent >= earlier.bytesSent, bytesReceived >= earlier.bytesReceived,
            let duration = duration.difference(since: earlier.duration)
        else { return nil }
        return RequestStatistics(
            duration: duration, bytesSent: bytesSent - earlier.bytesSent,
            bytesReceived: bytesReceived - earlier.bytesReceived)
    }

    /// Returns the statistics with durations converted to seconds.
    ///
    /// - Parameter unit: the unit of the durations, in seconds.
    package func inSeconds(from unit: Double) -> RequestStatistics {
        var result = self
        result.duration = duration.multiplied(by: unit)
        return result
    }

    package var isEmpty: Bool { requests == 0 && bytesSent == 0 && bytesReceived == 0 }
}
