public import Foundation
public import MartletTelemetry

/// What the agent knows of itself at one moment.
public struct MartletStatus: Sendable {
    public typealias Ledger = MartletTelemetry.Ledger
    public typealias DropReason = MartletTelemetry.DropReason

    /// How requests of `URLSession` are seen.
    public var captureMode: CaptureMode
    /// Why the mode is not the one that was asked for, or what the agent does not do at the moment because of its cost, and
    /// why (``MartletConfiguration/maxCPU``, ``MartletConfiguration/maxMemory``); `nil` where neither is so.
    public var captureReason: String?
    /// What capture cannot do with this Foundation or libcurl, a sentence each; empty where it can do all.
    public var captureLimits: [String]
    /// For how long capture was off since the agent's start, by the monotonic clock: paused because of the agent's cost, ended
    /// by internal errors, or switched off by the service. The requests of that time are not counted. The collector is told
    /// with each batch. Zero for an agent in memory.
    public var unwatched: Duration
    /// Requests of `URLSession` that have begun and not ended, and do not count as hung yet (`MARTLET_HUNG`).
    public var inFlight: Int
    /// The age of the oldest of them, by the monotonic clock; 0 when there is none.
    public var oldestInFlight: Duration
    /// Things inside the agent that were not as they should be since capture was switched on; the tenth switches it off.
    public var internalErrors: Int
    /// CPU time that the agent has taken since its start: that of its own thread, and an estimate of its steps on the
    /// service's, where spans start and end too. `MARTLET_MAX_CPU` limits it.
    public var cpuTime: Duration
    /// Roughly what the agent holds in memory, in bytes: statistics and kept details, also while batches are made of them,
    /// requests in flight, and batches and the journal where they cannot be in files. `MARTLET_MAX_MEMORY` limits it. The journal's files are not in it: the kernel writes
    /// them out where memory is short. They are mapped, 2 MiB as a rule and 16 MiB at most, and `MARTLET_BUFFER_MAX`
    /// counts them. Nor are spans that have not ended, which their callers hold.
    public var memoryBytes: Int
    /// `captured = delivered + waiting + dropped`, in requests of this process.
    public var ledger: Ledger
    /// Details that were not kept because of a limit, or could not be stored; what is counted does not depend on it.
    public var droppedDetails: UInt64
    /// Bytes of all batches of the service that wait on this host, and of those that wait in memory.
    public var bufferedBytes: Int
    /// Requests of earlier processes on this host that were recorded for another collector, or under another token, and wait
    /// for it: `MARTLET_BUFFER_ADOPT` sends them to this one. They are not in ``ledger``.
    public var waitingElsewhere: UInt64
    /// Where batches wait; `nil` while there is no directory for them.
    public var bufferDirectory: URL?
    /// Why batches cannot be stored and are sent from memory; `nil` while they can. A killed process loses those that wait
    /// where ``journalError`` is not `nil`.
    public var bufferError: String?
    /// Why the process would lose what it recorded since the last interval if it were killed now, and what waits in memory;
    /// `nil` where it would not.
    public var journalError: String?
    /// The way that uploads take; `nil` before the start is through, and while the agent is off.
    public var transport: MartletConfiguration.Transport?
    /// When the collector last acknowledged a batch.
    public var lastUpload: Date?
    /// Why the last attempt to upload failed; `nil` when it did not.
    public var uploadError: String?
}
