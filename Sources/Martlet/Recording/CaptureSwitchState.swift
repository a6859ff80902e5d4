/// The state of capture: on, or switched off by the service or by the agent. A pure value. The service's decision has
/// priority over the agent's.
enum CaptureSwitchState: Sendable, Equatable {
    case on
    /// Switched off by the service, until the service switches it on.
    case off
    /// Paused by the agent because of its cost, until the agent resumes.
    case paused(String)
    /// Switched off by the agent because of internal errors, until the service switches it on.
    case failed(String)

    var isOn: Bool { self == .on }

    /// The reason why the agent switched capture off; `nil` where it did not.
    var reason: String? {
        switch self {
        case .on, .off: nil
        case .paused(let reason), .failed(let reason): reason
        }
    }

    mutating func pause(because reason: String) {
        if isOn { self = .paused(reason) }
    }

    mutating func resume() {
        if case .paused = self { self = .on }
    }

    mutating func fail(because reason: String) {
        if self != .off { self = .failed(reason) }
    }
}
