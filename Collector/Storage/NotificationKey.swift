/// Names the subject of a receiver's notifications: a finding of an environment.
///
/// It is a hash, because the address of a receiver may be a secret, and copies of a store are passed on.
package struct NotificationKey: Sendable, Hashable {
    package let bytes: [UInt8]

    /// - Parameters:
    ///   - receiver: its whole address.
    ///   - environment: the environment of the finding; `nil` for senders without one.
    ///   - finding: the finding's id, which is unique within its environment.
    package init(receiver: String, environment: String?, finding: String) {
        bytes = StreamID(hashing: [receiver, environment ?? "", finding].map { Array($0.utf8) }).bytes
    }
}

/// What a receiver acknowledged last about a finding.
package enum NotifiedState: UInt8, Sendable {
    case ended = 0
    case open = 1

    /// How long stores keep it, in nanoseconds.
    package static let age: Int64 = 30 * 24 * 3_600_000_000_000
}
