/// What kind of thing happened. The raw value is the name in reports.
package enum FindingKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Processes ended without a shutdown.
    case ended
    /// Requests have had no answer for minutes.
    case hung
    /// Tasks waited for a thread.
    case starved
    /// One request makes many.
    case calls
    /// A service has stopped reporting.
    case silent
    /// Recorded requests did not arrive.
    case lost
    /// The memory of processes grows without end.
    case memory
    /// An endpoint answers with an error that it never answered with.
    case newError = "new-error"
    /// A failing endpoint is asked more often for each request.
    case retries
    /// More requests fail than usual.
    case failing
    /// Requests take longer than usual.
    case slow

    /// The order in which kinds explain each other: a process that ended explains that its requests failed, and not the
    /// reverse.
    var precedence: Int {
        switch self {
        case .ended: 0
        case .hung: 1
        case .starved: 2
        case .calls: 3
        case .silent: 4
        case .lost: 5
        case .memory: 6
        case .newError: 7
        case .retries, .failing: 8
        case .slow: 9
        }
    }

    /// Whether it says nothing about other services: memory may grow for hours before anything suffers from it.
    var hasNoEffectOnOthers: Bool { self == .memory || self == .silent || self == .lost }

    /// Whether what a service depends on is never the reason: a process ends or blocks its threads by its own fault.
    var isOwnFault: Bool { self == .ended || self == .starved }

    /// Whether an episode of this kind is a share of requests, which has a beginning and an end that counts show.
    package var isShareOfRequests: Bool { self == .failing || self == .slow || self == .newError }
}
