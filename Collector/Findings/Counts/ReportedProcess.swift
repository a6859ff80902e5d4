import MartletStorage
import MartletTelemetry

/// The identity of a process.
package struct ProcessIdentity: Sendable, Hashable, Comparable {
    package var service: String
    package var version: String
    package var instance: String

    package init(service: String, version: String, instance: String) {
        (self.service, self.version, self.instance) = (service, version, instance)
    }

    package static func < (one: ProcessIdentity, other: ProcessIdentity) -> Bool {
        (one.service, one.version, one.instance) < (other.service, other.version, other.instance)
    }
}

/// What a process reported in a minute.
package struct ReportedProcess: Sendable {
    package var process: ProcessIdentity
    /// Its last report, in seconds since 1970.
    package var lastSeen: Double
    /// The mean of its memory in the minute, in MiB; `nil` if unknown.
    package var memory: Double?
    /// Its losses since its start; `nil` if unknown.
    package var losses: LossReading?

    package init(process: ProcessIdentity, lastSeen: Double, memory: Double?, losses: LossReading? = nil) {
        (self.process, self.lastSeen, self.memory, self.losses) = (process, lastSeen, memory, losses)
    }

    /// The minute of its last report.
    var minute: Minute { FindingTime.minute(of: FindingTime.slot(at: lastSeen)) }
}

/// The longest time that a task of a service waited for a thread in 10 s.
package struct ThreadWait: Sendable {
    package var service: String
    package var slot: Slot
    package var seconds: Double

    package init(service: String, slot: Slot, seconds: Double) {
        (self.service, self.slot, self.seconds) = (service, slot, seconds)
    }
}

/// A process that ended without a shutdown.
package struct ProcessEnd: Sendable, Hashable {
    package var process: ProcessIdentity
    /// Its last sign of life.
    package var time: UnixNanoseconds
    /// Why it ended, as far as is known, such as `SIGILL at main.swift:41`.
    package var cause: String?
    /// The endpoint of its requests in flight; `nil` if they were of several.
    package var endpoint: String?
    /// Whether it may have been asked to end: it was killed without a trace, or ended by itself, and a service that does not handle
    /// SIGTERM leaves no trace of it.
    package var mayBeStop: Bool

    package init(
        process: ProcessIdentity, time: UnixNanoseconds, cause: String?, endpoint: String? = nil,
        mayBeStop: Bool = false
    ) {
        (self.process, self.time, self.cause) = (process, time, cause)
        (self.endpoint, self.mayBeStop) = (endpoint, mayBeStop)
    }

    var slot: Slot { FindingTime.slot(at: time) }
}

/// Requests that a process recorded, and that did not arrive.
package struct LostRequests: Sendable {
    package var service: String
    package var slot: Slot
    package var count: UInt64

    package init(service: String, slot: Slot, count: UInt64) {
        (self.service, self.slot, self.count) = (service, slot, count)
    }
}
