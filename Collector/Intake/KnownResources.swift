import MartletOTLP
import MartletTelemetry
import Synchronization

/// A cache of senders' resources by their bytes. A sender's next batch repeats the same resource byte for byte. Safe to use
/// from any task.
final class KnownResources: Sendable {
    /// The maximum number of resources. They take 20 MiB at most, and usually a tenth of that. When the maximum is reached, the
    /// cache forgets all resources. They are decoded again when they next arrive.
    static let maxResources = 4096
    /// Maximum bytes of a resource. A longer resource is decoded each time.
    static let maxBytes = 2048

    private struct Known {
        /// The whole message, only for comparison.
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

extension TelemetryResource {
    /// The name that the semantic conventions prescribe for a sender that gives none.
    static let unknownService = "unknown_service"

    init(_ resource: OTLPResource) {
        let attributes = resource.attributes
        let agent = [attributes.text(AttributeName.sdkName), attributes.text(AttributeName.sdkVersion)]
            .compactMap(\.self).joined(separator: " ")
        let runtime = [attributes.text(AttributeName.runtimeName), attributes.text(AttributeName.runtimeVersion)]
            .compactMap(\.self).joined(separator: " ")
        self.init(
            service: attributes.text(AttributeName.serviceName) ?? Self.unknownService,
            version: attributes.text(AttributeName.serviceVersion),
            environment: attributes.text(AttributeName.environment) ?? attributes.text("deployment.environment"),
            instance: Self.instance(attributes),
            host: attributes.text(AttributeName.hostName), captureMode: attributes.text(AttributeName.captureMode),
            captureReason: attributes.text(AttributeName.captureReason)?.cut(toBytes: IntakeLimits.captureReasonBytes),
            agent: agent.isEmpty ? nil : agent,
            runtime: runtime.isEmpty ? nil : runtime.cut(toBytes: IntakeLimits.runtimeBytes))
        rules = attributes.integer(AttributeName.rules).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Returns the instance. If the sender does not name it, the pod, the container or the process identifies it too.
    private static func instance(_ attributes: [OTLPKeyValue]) -> String {
        for name in [AttributeName.serviceInstanceID, "k8s.pod.uid", "k8s.pod.name", "container.id"] {
            if let text = attributes.text(name) { return text }
        }
        return attributes.integer("process.pid").map { "pid \($0)" } ?? ""
    }

    /// Returns whether every text that distinguishes senders is short enough for an index key.
    func fits(_ limits: IntakeLimits) -> Bool {
        [service, version, environment, instance, host, captureMode, agent]
            .allSatisfy { ($0?.utf8.count ?? 0) <= limits.maxAttributeBytes }
    }
}
