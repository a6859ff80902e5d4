/// Tells the streams of one sender's metrics apart: the instrumentation scope, the metric and all attributes, also those that
/// are no dimension of a report (OpenTelemetry specification, "Metrics Data Model", section Timeseries Model).
///
/// A hash of 128 bits: two of a million streams are the same with a probability of about 10⁻²⁷.
package struct StreamID: Sendable, Hashable {
    /// FNV-1a, which is the same in every process (draft-eastlake-fnv, section 5).
    private var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d

    package init(hashing parts: [[UInt8]]) {
        add(parts)
    }

    /// As if the parts had been hashed behind those of this one.
    package func adding(_ parts: [[UInt8]]) -> StreamID {
        var id = self
        id.add(parts)
        return id
    }

    private mutating func add(_ parts: [[UInt8]]) {
        for part in parts {
            // Its length first, so that no two lists of parts are the same bytes.
            add(Self.bytes(of: UInt64(part.count)))
            add(part)
        }
    }

    /// 16 of them.
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
