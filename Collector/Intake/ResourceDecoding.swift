import MartletOTLP
import MartletTelemetry

extension TelemetryResource {
    /// The name that the semantic conventions prescribe for a sender that gives none.
    static let unknownService = "unknown_service"

    init(_ resource: OTLPResource) {
        let attributes = resource.attributes
        let agent = [attributes.text(AttributeName.sdkName), attributes.text(AttributeName.sdkVersion)]
            .compactMap(\.self).joined(separator: " ")
        self.init(
            service: attributes.text(AttributeName.serviceName) ?? Self.unknownService,
            version: attributes.text(AttributeName.serviceVersion),
            environment: attributes.text(AttributeName.environment) ?? attributes.text("deployment.environment"),
            instance: Self.instance(attributes),
            host: attributes.text(AttributeName.hostName), captureMode: attributes.text(AttributeName.captureMode),
            captureReason: attributes.text(AttributeName.captureReason)?.cut(toBytes: IntakeLimits.captureReasonBytes),
            agent: agent.isEmpty ? nil : agent)
    }

    /// Of a sender that does not name its instance the pod, the container or the process, which are as good.
    private static func instance(_ attributes: [OTLPKeyValue]) -> String {
        for name in [AttributeName.serviceInstanceID, "k8s.pod.uid", "k8s.pod.name", "container.id"] {
            if let text = attributes.text(name) { return text }
        }
        return attributes.integer("process.pid").map { "pid \($0)" } ?? ""
    }

    /// Whether every text that tells senders apart is short enough to be an index's key.
    func fits(_ limits: IntakeLimits) -> Bool {
        [service, version, environment, instance, host, captureMode, agent]
            .allSatisfy { ($0?.utf8.count ?? 0) <= limits.maxAttributeBytes }
    }
}
