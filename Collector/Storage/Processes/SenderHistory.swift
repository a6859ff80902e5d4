import MartletTelemetry

/// A sender, with what it reported in each minute. A plain value.
package struct SenderHistory: Sendable, Equatable {
    package var resource: TelemetryResource
    /// The minutes in which it reported, in order of time.
    package var minutes: [SenderMinute]

    package init(resource: TelemetryResource, minutes: [SenderMinute]) {
        self.resource = resource
        self.minutes = minutes
    }
}

/// What a sender reported in a minute, by its own clock.
package struct SenderMinute: Sendable, Equatable {
    /// The end of the last interval in the minute.
    package var end: UnixNanoseconds
    /// The mean of the process's resident memory, in bytes; `nil` if unknown.
    package var residentMemory: Double?
    /// The last reading of its losses; `nil` if there is none.
    package var losses: LossReading?

    package init(end: UnixNanoseconds, residentMemory: Double? = nil, losses: LossReading? = nil) {
        (self.end, self.residentMemory, self.losses) = (end, residentMemory, losses)
    }
}

/// How many requests a process had recorded and lost at some time.
package struct LossReading: Sendable, Equatable {
    package var time: UnixNanoseconds
    /// The requests that were lost since its start.
    package var requests: UInt64
    /// The time since its start, in nanoseconds; 0 if unknown.
    package var age: UInt64

    /// - Parameter dropped: the lost requests by reason.
    package init(time: UnixNanoseconds, dropped: [String: UInt64], age: UInt64) {
        self.time = time
        requests = dropped.values.reduce(0) { $0.adding($1) }
        self.age = age
    }
}

/// Puts the histories of senders together from a store's rows.
package struct SenderHistories<ID: Hashable & Comparable> {
    /// Minutes of all senders at most. One takes some 100 bytes.
    package static var maxMinutes: Int { 400_000 }

    private let senders: [ID: TelemetryResource]
    private var minutes: [ID: [UInt64: SenderMinute]] = [:]
    private var count = 0

    /// - Parameter senders: the senders whose histories are wanted.
    package init(of senders: [ID: TelemetryResource]) { self.senders = senders }

    /// Notes that an interval of a sender ended, and what else is known of that minute. Throws if there are too many minutes.
    package mutating func add(
        _ id: ID, end: UnixNanoseconds, residentMemory: Double? = nil, losses: LossReading? = nil
    ) throws(TooManyGroups) {
        guard senders[id] != nil else { return }
        let minute = (max(end, 1) - 1) / 60_000_000_000
        var known = minutes[id]?[minute] ?? SenderMinute(end: end)
        known.end = max(known.end, end)
        known.residentMemory = residentMemory ?? known.residentMemory
        known.losses = losses ?? known.losses
        if minutes[id, default: [:]].updateValue(known, forKey: minute) == nil { count += 1 }
        guard count <= Self.maxMinutes else { throw TooManyGroups(limit: Self.maxMinutes) }
    }

    /// The senders that reported, in the order of their numbers.
    package var all: [SenderHistory] {
        minutes.sorted { $0.key < $1.key }.compactMap { id, minutes in
            senders[id].map {
                SenderHistory(resource: $0, minutes: minutes.sorted { $0.key < $1.key }.map(\.value))
            }
        }
    }
}
