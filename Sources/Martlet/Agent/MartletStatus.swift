public import Foundation
import MartletTelemetry

/// The state of the agent at one moment.
public struct MartletStatus: Sendable {
    /// The way in which requests of `URLSession` are seen.
    public internal(set) var captureMode: CaptureMode
    /// The reason why the mode is not the requested one, or the work that the agent does not do at the moment because of its
    /// cost, with the reason (``MartletConfiguration/maxCPU``, ``MartletConfiguration/maxMemory``); `nil` if neither applies.
    public internal(set) var captureReason: String?
    /// The parts of capture that do not work with this Foundation or libcurl, a sentence each; empty if all do.
    public internal(set) var captureLimits: [String]
    /// The number of rules in force that change requests (``MartletRule``).
    public internal(set) var rules: Int
    /// The time for which capture was off since the agent's start, by the monotonic clock: paused because of the agent's
    /// cost, ended by internal errors, or switched off by the service. Requests of that time are not counted. Each batch
    /// tells the collector of it. Zero for an agent in memory.
    public internal(set) var unwatched: Duration
    /// Requests of `URLSession` that have begun and not ended, and do not count as hung yet (`MARTLET_HUNG`).
    public internal(set) var inFlight: Int
    /// The age of the oldest request in flight, by the monotonic clock; 0 if none is.
    public internal(set) var oldestInFlight: Duration
    /// Conditions that capture relies on and found broken since it was switched on; the tenth switches it off.
    public internal(set) var internalErrors: Int
    /// CPU time that the agent has taken since its start: that of its own thread, and an estimate of its work on the
    /// service's threads, including the starts and ends of spans. `MARTLET_MAX_CPU` limits it.
    public internal(set) var cpuTime: Duration
    /// Bytes that the agent holds in memory, roughly: statistics and kept details, also while batches are made of them,
    /// requests in flight, and batches and the journal where they cannot be in files. `MARTLET_MAX_MEMORY` limits it.
    ///
    /// The journal's files do not count: the kernel writes them out when memory is short. They are mapped, 2 MiB as a rule
    /// and 16 MiB at most, and `MARTLET_BUFFER_MAX` counts them. Spans that have not ended do not count either: their callers
    /// hold them.
    public internal(set) var memoryBytes: Int
    /// `captured = delivered + waiting + dropped`, in requests of this process.
    public internal(set) var ledger: Ledger
    /// Details that were not kept because of a limit, or could not be stored. Counts do not depend on them.
    public internal(set) var droppedDetails: UInt64
    /// Bytes of all batches of the service that wait on this host, in files or in this process's memory.
    public internal(set) var bufferedBytes: Int
    /// Requests of earlier processes on this host that were recorded for another collector, or under another token, and wait
    /// for it: `MARTLET_BUFFER_ADOPT` sends them to this one. They are not in ``ledger``.
    public internal(set) var waitingElsewhere: UInt64
    /// The directory in which batches wait; `nil` while they have none.
    public internal(set) var bufferDirectory: URL?
    /// The reason why batches cannot be stored and are sent from memory; `nil` while they can be stored. If ``journalError``
    /// is not `nil` either, a killed process loses the batches that wait in memory.
    public internal(set) var bufferError: String?
    /// The reason why a process that is killed now would lose the requests recorded since the last interval and the batches
    /// that wait in memory; `nil` if it would lose none.
    public internal(set) var journalError: String?
    /// The transport of uploads; `nil` until the agent has started, and while it is off.
    public internal(set) var transport: MartletConfiguration.Transport?
    /// The time when a collector last acknowledged a batch.
    public internal(set) var lastUpload: Date?
    /// The address of that collector, without user and password; `nil` before the first batch.
    public internal(set) var lastCollector: URL?
    /// The reason why the last upload failed or was refused; `nil` after a success.
    public internal(set) var uploadError: String?
}

extension MartletStatus {
    /// The ledger of the agent, in requests: `captured = delivered + waiting + dropped`, always.
    public struct Ledger: Sendable, Hashable {
        /// Requests that were seen since the process started.
        public let captured: UInt64
        /// Requests in batches that the collector acknowledged.
        public let delivered: UInt64
        /// Requests in memory or in the buffer.
        public let waiting: UInt64
        /// Requests that will never be delivered, by reason; empty as long as no request was lost.
        public let dropped: [DropReason: UInt64]

        init(
            captured: UInt64 = 0, delivered: UInt64 = 0, waiting: UInt64 = 0, dropped: [DropReason: UInt64] = [:]
        ) {
            self.captured = captured
            self.delivered = delivered
            self.waiting = waiting
            self.dropped = dropped
        }

        init(_ ledger: MartletTelemetry.Ledger) {
            self.init(
                captured: ledger.captured, delivered: ledger.delivered, waiting: ledger.waiting,
                dropped: Dictionary(uniqueKeysWithValues: ledger.dropped.map { (DropReason($0.key), $0.value) }))
        }
    }

    /// The reason why requests were lost. A later version may have more reasons than these.
    public struct DropReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The name on the wire and in the collector's reports.
        public let rawValue: String

        /// The raw value.
        public var description: String { rawValue }

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        fileprivate init(_ reason: MartletTelemetry.DropReason) {
            rawValue = reason.rawValue
        }

        /// The buffer was full (`MARTLET_BUFFER_MAX`). Its batches were merged into coarser intervals, and the oldest still
        /// had to be deleted.
        public static let bufferFull = Self(.bufferFull)
        /// The collector refused the batch for good, or took it without some of its requests.
        public static let rejected = Self(.rejected)
        /// The batch's file was gone when its turn came: another instance of the service deleted it to make room, or a person
        /// or another program removed it.
        public static let gone = Self(.gone)
        /// The batch's file differs from the bytes that were written, because the disk lost or changed some. The file is in
        /// `quarantine/`.
        public static let corrupt = Self(.corrupt)
        /// The collector refused a batch of that size, and the batch could not be divided any further.
        public static let tooLarge = Self(.tooLarge)
        /// An upload had begun, and its outcome stayed unknown for so long that the collector may have forgotten the batch.
        /// Sent once more, the batch might count twice.
        public static let expired = Self(.expired)
        /// A process of another version of Martlet dropped the requests, for a reason that this version does not know.
        public static let other = Self(.other)
    }
}
