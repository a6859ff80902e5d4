import MartletOTLP
import MartletTelemetry

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

    /// Returns the instance. If the sender does not name it, the pod, the container or the process identifies it as well.
    private static func instance(_ attributes: [OTLPKeyValue]) -> String {
        for name in [AttributeName.serviceInstanceID, "k8s.pod.uid", "k8s.pod.name", "container.id"] {
            if let text = attributes.text(name) { return text }
        }
        return attributes.integer("process.pid").map { "pid \($0)" } ?? ""
    }

    /// Returns whether every text that distinguishes senders is short enough for an index's key.
    func fits(_ limits: IntakeLimits) -> Bool {
        [service, version, environment, instance, host, captureMode, agent]
            .allSatisfy { ($0?.utf8.count ?? 0) <= limits.maxAttributeBytes }
    }
}
