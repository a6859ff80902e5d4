import MartletTelemetry

/// The service's own decisions about requests: ``MartletConfiguration/name`` and ``MartletConfiguration/ignore``. The closures
/// run on the thread that asks, which holds no lock of the agent's. Their time is the service's.
struct ServiceDecisions: Sendable {
    private let name: (@Sendable (MartletTarget) -> String?)?
    private let ignore: (@Sendable (MartletTarget) -> Bool)?

    /// Whether a closure runs. A request of its own is counted without asking it again, which might never end.
    @TaskLocal private static var isDeciding = false

    init(_ configuration: MartletConfiguration) {
        name = configuration.name
        ignore = configuration.ignore
    }

    /// Returns whether the service leaves a request out.
    func ignore(_ kind: RequestKind, _ method: String, _ destination: RequestDestination) -> Bool {
        guard let ignore else { return false }
        return Self.decide { ignore(MartletTarget(kind, method, destination.target)) } ?? false
    }

    /// Returns the service's name for the endpoint of a request; `nil` if it has none.
    func name(of request: borrowing CapturedRequest) -> String? {
        guard let name else { return nil }
        let target = MartletTarget(request.kind, request.method, request.destination.target)
        guard let text = Self.decide({ name(target) }) ?? nil, !text.isEmpty else { return nil }
        return text.cut(toBytes: MartletLimits.spanName)
    }

    /// Returns the closure's decision; `nil` within another one.
    private static func decide<Decision>(_ closure: () -> Decision) -> Decision? {
        isDeciding ? nil : $isDeciding.withValue(true) { AgentCost.leaveOut(closure) }
    }
}

extension MartletTarget {
    fileprivate init(_ kind: RequestKind, _ method: String, _ target: RequestTarget) {
        self.init(
            isReceived: kind == .server, method: method, host: target.host, port: target.port, path: target.path)
    }
}
