public import Foundation
import MartletTelemetry

/// The state of the agent at one moment.
public struct MartletStatus: Sendable {
    /// How requests of `URLSession` are captured.
    public internal(set) var captureMode: CaptureMode
    /// Why the mode is not the requested one, which work the agent has given up because of its cost
    /// (``MartletConfiguration/maxCPU``, ``MartletConfiguration/maxMemory``), or which hook no request has reached although
    /// requests were made; `nil` if none of these applies.
    public internal(set) var captureReason: String?
    /// The parts of capture that do not work with this Foundation or libcurl, one sentence each; empty if all of them
    /// work.
    public internal(set) var captureLimits: [String]
    /// The number of rules in force that change requests (``MartletRule``).
    public internal(set) var rules: Int
    /// The time for which capture was off since the agent's start, by the monotonic clock: paused because of the
    /// agent's cost, ended by internal errors, or switched off by the service. Requests in that time are not counted.
    /// Each batch reports it to the collector. Zero for an in-memory agent.
    public internal(set) var unwatched: Duration
    /// Requests of `URLSession` that have begun, have not ended and are not counted as hung yet (`MARTLET_HUNG`).
    public internal(set) var inFlight: Int
    /// The age of the oldest request in flight, by the monotonic clock; 0 if there is none.
    public internal(set) var oldestInFlight: Duration
    /// Internal errors since capture was switched on: conditions that capture relies on but that did not hold. The
    /// tenth switches capture off.
    public internal(set) var internalErrors: Int
    /// CPU time that the agent has used since its start: the time of its thread, and an estimate of its work on the
    /// service's threads, including the starts and ends of spans. `MARTLET_MAX_CPU` limits it.
    public internal(set) var cpuTime: Duration
    /// An estimate of the agent's memory in bytes: statistics, kept details, batches while they are encoded, and
    /// requests in flight. Includes batches and the journal if they cannot be in files. `MARTLET_MAX_MEMORY` limits it.
    ///
    /// The journal's files do not count, because the kernel writes them out when memory is short. They are mapped,
    /// usually 2 MiB and at most 16 MiB, and `MARTLET_BUFFER_MAX` counts them. Spans that have not ended do not count
    /// either, because their callers hold them.
    public internal(set) var memoryBytes: Int
    /// `captured = delivered + waiting + dropped`, in requests of this process.
    public internal(set) var ledger: Ledger
    /// Details that were not kept because of a limit, or could not be stored. Counts do not depend on them.
    public internal(set) var droppedDetails: UInt64
    /// Bytes of all batches of the service that wait on this host, in files (in whole blocks of the disk) or in this
    /// process's memory.
    public internal(set) var bufferedBytes: Int
    /// Requests that earlier processes on this host recorded for another collector or under another token, and that
    /// still wait for that collector. `MARTLET_BUFFER_ADOPT` sends them to this collector. They are not in ``ledger``.
    public internal(set) var waitingElsewhere: UInt64
    /// The directory in which batches wait; `nil` while no directory can be used.
    public internal(set) var bufferDirectory: URL?
    /// Why batches cannot be stored and are sent from memory; `nil` while they can be stored. If ``journalError`` is not
    /// `nil` either, batches in memory are lost when the process is killed.
    public internal(set) var bufferError: String?
    /// Why requests recorded since the last interval, and batches in memory, would be lost if the process were killed
    /// now; `nil` if none would be lost.
    public internal(set) var journalError: String?
    /// The transport of uploads; `nil` until the agent has started, and if it is switched off.
    public internal(set) var transport: MartletConfiguration.Transport?
    /// The time when a collector last acknowledged a batch.
    public internal(set) var lastUpload: Date?
    /// The address of the collector that last acknowledged a batch, without user and password; `nil` before the first
    /// batch.
    public internal(set) var lastCollector: URL?
    /// Why the last upload failed or was refused; `nil` after a success.
    public internal(set) var uploadError: String?
}

extension MartletStatus {
    /// The ledger of the agent, in requests: `captured = delivered + waiting + dropped`, always.
    public struct Ledger: Sendable, Hashable {
        /// Requests captured since the process started.
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

    /// Why requests were lost. Later versions may add reasons.
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

        /// The buffer was full (`MARTLET_BUFFER_MAX`): the oldest batches were deleted, although batches had been
        /// merged into coarser intervals.
        public static let bufferFull = Self(.bufferFull)
        /// The collector refused the batch for good, or took it without some of its requests.
        public static let rejected = Self(.rejected)
        /// The batch's file was missing when it was to be sent: another instance of the service deleted it to make
        /// room, or a person or another program removed it.
        public static let gone = Self(.gone)
        /// The batch's file is damaged: the disk lost or changed some of its bytes. The file is in `quarantine/`.
        public static let corrupt = Self(.corrupt)
        /// The collector refused a batch of that size, and the batch could not be divided any further.
        public static let tooLarge = Self(.tooLarge)
        /// An upload had begun, and its outcome stayed unknown for so long that the collector may have forgotten the
        /// batch. If it were sent again, it might count twice.
        public static let expired = Self(.expired)
        /// A process of another version of Martlet dropped the requests, for a reason unknown to this version.
        public static let other = Self(.other)
    }
}
