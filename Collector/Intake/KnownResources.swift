import MartletOTLP
import MartletTelemetry
import Synchronization

/// The resources of senders as they stand in bodies, with what they say. A sender's next batch has the same one, to the byte.
/// Safe to use from any task.
final class KnownResources: Sendable {
    /// Past it all are forgotten and decoded as they come: 20 MiB at most, and as a rule a tenth.
    static let maxResources = 4096
    /// Longer ones are decoded each time.
    static let maxBytes = 2048

    private struct Known {
        /// To be compared, not decoded: a whole message.
        var bytes: AttributeBytes
        var resource: TelemetryResource
    }

    private let known = Mutex<[UInt64: Known]>([:])

    /// - Throws: for what is no resource.
    func find(_ range: Range<Int>, of body: ProtobufReader) throws(ProtobufReader.Unusual) -> TelemetryResource {
        guard range.count <= Self.maxBytes else { return try Self.decoded(range, of: body) }
        var bytes = AttributeBytes()
        bytes.append(range, of: body.bytes)
        let hash = bytes.hash(0)
        if let known = known.withLock({ $0[hash] }), known.bytes == bytes { return known.resource }
        let resource = try Self.decoded(range, of: body)
        keep(Known(bytes: bytes.compact, resource: resource), as: hash)
        return resource
    }

    private static func decoded(
        _ range: Range<Int>, of body: ProtobufReader
    ) throws(ProtobufReader.Unusual) -> TelemetryResource {
        TelemetryResource(try body.message(in: range, depth: .resource))
    }

    private func keep(_ new: Known, as hash: UInt64) {
        known.withLock { known in
            if known.count >= Self.maxResources { known = [:] }
            known[hash] = new
        }
    }
}
