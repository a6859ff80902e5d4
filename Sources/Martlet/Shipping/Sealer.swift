import Foundation
import MartletOTLP
import MartletTelemetry

/// Turns what was recorded in an interval into batches in the outbox.
struct Sealer {
    private let configuration: MartletConfiguration
    private let identity: TelemetryResource
    private let capture: CaptureState
    private var lastMode: CaptureMode
    private let recorder: Recorder
    private let log: AgentLog
    private let shipper: Shipper
    private var sequence: UInt64 = 0
    private var lastSeal: UInt64?
    private var lastMeasure: UInt64?
    /// Room in the place of the outbox.
    private var room: BufferRoom?
    /// All places where batches of the service may wait, the preferred one first.
    let places: [URL]

    init(
        _ configuration: MartletConfiguration, resource: TelemetryResource, capture: CaptureState, recorder: Recorder,
        log: AgentLog,
        shipper: Shipper
    ) {
        self.configuration = configuration
        identity = resource
        self.capture = capture
        lastMode = capture.mode
        self.recorder = recorder
        self.log = log
        self.shipper = shipper
        places = BufferDirectory.candidates(
            for: configuration, environment: ProcessInfo.processInfo.environment)
    }

    /// The first directory that can be written; `nil`, and a reason in `status`, when none can.
    mutating func makeOutbox() -> Outbox? {
        var problems: [String] = []
        let account = shipper.status.account
        for candidate in places {
            do {
                let outbox = try Outbox.create(instance: identity.instance, in: candidate, account: account)
                use(candidate, insteadOf: problems)
                return outbox
            } catch {
                problems.append("\(candidate.path): \(Self.sentence(error))")
            }
        }
        fail(problems.joined(separator: "; "))
        return nil
    }

    /// Takes note of what the outbox leaves behind that can be used no more.
    func leave(_ outbox: inout Outbox) {
        _ = outbox.batches()
        note(outbox.account)
    }

    /// One batch of metrics and, where details were kept, one of traces. What cannot be stored goes back to the recorder.
    mutating func seal(into outbox: inout Outbox, isAsked: Bool) {
        let (interval, captured) = recorder.drain()
        let capture = capture.now
        let isNew = !interval.series.isEmpty || !interval.details.isEmpty || capture.mode != lastMode
        guard isNew || isHeartbeatDue(isAsked: isAsked) else { return recorder.restore(interval) }
        var resource = identity
        resource.captureMode = capture.mode.rawValue
        resource.captureReason = capture.reason
        let ledger = shipper.status.ledger(captured: captured)
        let metrics = MetricsBatch(
            resource: resource, start: interval.start, end: interval.end, series: interval.series,
            instanceStart: recorder.start, ledger: ledger)
        do {
            try store(metrics.otlp(), .metrics, requests: metrics.requests, in: &outbox)
            storeDetails(interval.details, of: resource, in: &outbox)
            lastMode = capture.mode
            sequence += 1
            lastSeal = Clock.monotonic()
            shipper.update { $0.bufferError = nil }
            log.again(.buffer, "Batches are stored again")
        } catch {
            recorder.restore(interval)
            fail(Self.sentence(error))
        }
    }

    /// Details go first where something has to go: the batch of metrics stands without them.
    private mutating func storeDetails(
        _ details: [SpanRecord], of resource: TelemetryResource, in outbox: inout Outbox
    ) {
        guard !details.isEmpty else { return }
        do {
            try store(DetailsBatch(resource: resource, details: details).otlp(), .traces, in: &outbox)
        } catch {
            recorder.countDroppedDetails(details.count)
        }
    }

    /// Counts what is in the buffer anew, now and then: other instances of the service change it too.
    mutating func measureBuffer() {
        guard let room, Clock.hasPassed(MartletLimits.bufferMeasure, since: lastMeasure) else { return }
        lastMeasure = Clock.monotonic()
        shipper.update { $0.bufferedBytes = room.size }
    }

    // MARK: -

    private func isHeartbeatDue(isAsked: Bool) -> Bool {
        !isAsked && Clock.hasPassed(MartletLimits.heartbeat, since: lastSeal)
    }

    private mutating func store(
        _ bytes: [UInt8], _ signal: Signal, requests: UInt64 = 0, in outbox: inout Outbox
    ) throws {
        let isCompressed = configuration.compression == .gzip
        let body = isCompressed ? try Gzip.compress(bytes) : bytes
        let file = BatchFile(
            sequence: sequence + 1, signal: signal, requests: requests, isCompressed: isCompressed, body: body)
        defer { note(outbox.account) }
        if makeRoom(for: body.count, in: &outbox) {
            try outbox.store(body, as: file)
            shipper.update { $0.bufferedBytes += body.count }
        } else {
            outbox.drop(requests, .bufferFull)
        }
    }

    private func note(_ account: OutboxAccount) {
        if account.dropped[.bufferFull] != shipper.status.account.dropped[.bufferFull] {
            log.once(.bufferFull, "The buffer is full (MARTLET_BUFFER_MAX); the oldest batches make room")
        }
        shipper.update { $0.account = account }
    }

    /// Looks at the files only when the count says that room is short.
    private mutating func makeRoom(for bytes: Int, in outbox: inout Outbox) -> Bool {
        guard var room, room.isShort(at: shipper.status.bufferedBytes + bytes) else { return true }
        let isThere = room.make(for: bytes, own: &outbox)
        shipper.update { $0.bufferedBytes = room.size }
        self.room = room
        return isThere
    }

    private mutating func use(_ directory: URL, insteadOf problems: [String]) {
        room = BufferRoom(service: directory, limit: configuration.bufferMax)
        shipper.update {
            $0.bufferDirectory = directory
            $0.bufferError = nil
        }
        guard !problems.isEmpty else { return }
        log.once(.directory, "Batches are kept in \(directory.path), because of \(problems.joined(separator: "; "))")
    }

    private func fail(_ problem: String) {
        shipper.update { $0.bufferError = problem }
        log.once(.buffer, "Batches cannot be stored, counting goes on in memory: \(problem)")
    }

    private static func sentence(_ error: any Error) -> String {
        (error as? WholeFile.Failure)?.description ?? (error as NSError).localizedDescription
    }
}
