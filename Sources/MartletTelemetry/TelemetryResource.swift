/// The sender of telemetry: the OpenTelemetry resource, as far as Martlet distinguishes senders.
package struct TelemetryResource: Sendable, Hashable, Codable {
    /// `service.name`
    package var service: String
    /// `service.version`
    package var version: String?
    /// `deployment.environment.name`
    package var environment: String?
    /// `service.instance.id`: one process, from its start to its end. Empty if the sender gives none.
    package var instance: String
    /// `host.name`
    package var host: String?
    /// `martlet.capture.mode`: how the agent sees requests (`automatic`, `explicit`, `off`).
    package var captureMode: String?
    /// `martlet.capture.reason`: a sentence about why the mode is not the configured one, or why the agent keeps no
    /// details.
    package var captureReason: String?
    /// `martlet.rules`: the number of rules in force that change requests; `nil` for none.
    package var rules: Int?
    /// `telemetry.sdk.name` and `telemetry.sdk.version`, separated by a space: `martlet 0.1.0`.
    package var agent: String?
    /// `process.pid`; `nil` if the sender gives none.
    package var processID: Int64?
    /// `process.runtime.name` and `process.runtime.version`, separated by a space: `swift 6.3`.
    package var runtime: String?
    /// Further attributes, which Martlet's agent sends for other programs. Not encoded.
    package var attributes: [String: String] = [:]

    private enum CodingKeys: String, CodingKey {
        case service, version, environment, instance, host, captureMode, captureReason, rules, agent, processID
        case runtime
    }

    package init(
        service: String, version: String? = nil, environment: String? = nil, instance: String, host: String? = nil,
        captureMode: String? = nil, captureReason: String? = nil, agent: String? = nil, processID: Int64? = nil,
        runtime: String? = nil, attributes: [String: String] = [:]
    ) {
        self.service = service
        self.version = version
        self.environment = environment
        self.instance = instance
        self.host = host
        self.captureMode = captureMode
        self.captureReason = captureReason
        self.agent = agent
        self.processID = processID
        self.runtime = runtime
        self.attributes = attributes
    }

    /// Whether the sender is a Martlet agent.
    package var isMartlet: Bool { agent?.hasPrefix("martlet ") ?? false }
}
