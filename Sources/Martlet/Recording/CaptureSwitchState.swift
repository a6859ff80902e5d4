/// Whether capture is on, and if not, who switched it off. A pure value: the service's word is above the agent's own.
enum CaptureSwitchState: Sendable, Equatable {
    case on
    /// By the service, until it switches it on.
    case off
    /// By the agent, because of what it costs, until it goes on.
    case paused(String)
    /// By the agent, because of internal errors, until the service switches it on.
    case failed(String)

    var isOn: Bool { self == .on }

    /// Why the agent switched itself off; `nil` where it did not.
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
