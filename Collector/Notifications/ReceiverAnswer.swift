/// What becomes of a message after an attempt to send it.
package enum ReceiverAnswer: Sendable, Equatable, CustomStringConvertible {
    case accepted(status: Int)
    /// The receiver does not take this message, or its address is wrong.
    case refused(String)
    /// The receiver cannot take messages now. It may have asked for a wait.
    case away(String, wait: Duration?)

    /// - Parameter retryAfter: the value of `Retry-After`. Only seconds are read, as chat services send them.
    init(status: Int, retryAfter: String? = nil) {
        switch status {
        case 200..<300: self = .accepted(status: status)
        case 300..<400: self = .refused("it redirects (\(status)), which is not followed")
        case 408, 429, 500...:
            self = .away("it answers \(status)", wait: retryAfter.flatMap { UInt32($0) }.map { .seconds(Int64($0)) })
        default: self = .refused("it answers \(status)")
        }
    }

    package var isAccepted: Bool { if case .accepted = self { true } else { false } }

    package var description: String {
        switch self {
        case .accepted(let status): "accepted (\(status))"
        case .refused(let reason), .away(let reason, _): "not accepted: \(reason)"
        }
    }
}
