import MartletTelemetry

/// A finding as a store keeps it. The environment and the id name it. The store does not look into its text.
package struct FindingRecord: Sendable, Equatable {
    /// Records of an environment that are kept at most: those that began last.
    package static let limit = 10_000
    /// The longest text, in bytes.
    package static let textLimit = 16_384
    /// The age at which a record is deleted, counted from its last change, in nanoseconds: 30 days.
    package static let age: UnixNanoseconds = 30 * 24 * 3_600_000_000_000

    /// Empty for senders without an environment.
    package var environment: String
    package var id: String
    /// The beginning, or the time from which it is known.
    package var began: UnixNanoseconds
    /// `nil` while it goes on.
    package var end: UnixNanoseconds?
    /// The time of the last change.
    package var changed: UnixNanoseconds
    /// The finding as JSON.
    package var text: String

    package init(
        environment: String, id: String, began: UnixNanoseconds, end: UnixNanoseconds?, changed: UnixNanoseconds,
        text: String
    ) {
        (self.environment, self.id, self.began, self.end) = (environment, id, began, end)
        (self.changed, self.text) = (changed, text)
    }
}

/// A query for the findings that reach into a window. Those that began last come first.
package struct FindingRecordsQuery: Sendable {
    package var window: TimeWindow
    /// `nil` for all.
    package var environments: Set<String>?
    package var limit: Int

    package init(window: TimeWindow, environments: Set<String>? = nil, limit: Int) {
        (self.window, self.environments, self.limit) = (window, environments, limit)
    }
}

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
