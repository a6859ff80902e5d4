/// Who sent something: the OpenTelemetry resource, as far as Martlet tells senders apart.
package struct TelemetryResource: Sendable, Hashable, Codable {
    /// `service.name`
    package var service: String
    /// `service.version`
    package var version: String?
    /// `deployment.environment.name`
    package var environment: String?
    /// `service.instance.id`: one process, from its start to its end. Empty where the sender gives none.
    package var instance: String
    /// `host.name`
    package var host: String?
    /// `martlet.capture.mode`: how the agent sees requests (`automatic`, `explicit`, `off`).
    package var captureMode: String?
    /// `martlet.capture.reason`: why the mode is not the one that was asked for, or why the agent
    /// keeps no details, in a sentence.
    package var captureReason: String?
    /// `telemetry.sdk.name` and `telemetry.sdk.version`, as `martlet 0.1.0`.
    package var agent: String?

    package init(
        service: String, version: String? = nil, environment: String? = nil, instance: String, host: String? = nil,
        captureMode: String? = nil, captureReason: String? = nil, agent: String? = nil
    ) {
        self.service = service
        self.version = version
        self.environment = environment
        self.instance = instance
        self.host = host
        self.captureMode = captureMode
        self.captureReason = captureReason
        self.agent = agent
    }

    /// Whether the sender is an agent of Martlet's.
    package var isMartlet: Bool { agent?.hasPrefix("martlet ") ?? false }
}
