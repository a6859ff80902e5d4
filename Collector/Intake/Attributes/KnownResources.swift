import MartletOTLP
import MartletTelemetry
import Synchronization

/// A cache of senders' resources by their bytes. A sender's next batch has the same resource, to the byte. Safe to use
/// from any task.
final class KnownResources: Sendable {
    /// The maximum number of resources, which take 20 MiB at most, and as a rule a tenth. When it is reached, all are
    /// forgotten and decoded as they come.
    static let maxResources = 4096
    /// Bytes of a resource. A longer resource is decoded each time.
    static let maxBytes = 2048

    private struct Known {
        /// The whole message, for comparison alone.
        var bytes: AttributeBytes
        var resource: TelemetryResource
    }

    private let known = Mutex<[UInt64: Known]>([:])

    /// Returns the resource at `range` of the body.
    ///
    /// - Throws: if the bytes are not a resource.
    func find(_ range: Range<Int>, of body: ProtobufReader) throws(ProtobufReader.UncommonForm) -> TelemetryResource {
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
    ) throws(ProtobufReader.UncommonForm) -> TelemetryResource {
        TelemetryResource(try body.message(in: range, depth: .resource))
    }

    private func keep(_ new: Known, as hash: UInt64) {
        known.withLock { known in
            if known.count >= Self.maxResources { known = [:] }
            known[hash] = new
        }
    }
}
