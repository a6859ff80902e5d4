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
    private(set) var service: URL?

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
    }

    /// The first directory that can be written; `nil`, and a reason in `status`, when none can.
    mutating func makeOutbox() -> Outbox? {
        var problems: [String] = []
        let environment = ProcessInfo.processInfo.environment
        for candidate in BufferDirectory.candidates(for: configuration, environment: environment) {
            do {
                let outbox = try Outbox.create(instance: identity.instance, in: candidate)
                use(candidate, insteadOf: problems)
                return outbox
            } catch {
                problems.append("\(candidate.path): \(Self.sentence(error))")
            }
        }
        fail(problems.joined(separator: "; "))
        return nil
    }

    /// One batch of metrics and, where details were kept, one of traces. What cannot be stored goes back to the recorder.
    mutating func seal(into outbox: borrowing Outbox, isAsked: Bool) {
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
            try store(metrics.otlp(), .metrics, requests: metrics.requests, in: outbox)
            storeDetails(interval.details, of: resource, in: outbox)
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
    private func storeDetails(_ details: [SpanRecord], of resource: TelemetryResource, in outbox: borrowing Outbox) {
        guard !details.isEmpty else { return }
        do {
            try store(DetailsBatch(resource: resource, details: details).otlp(), .traces, in: outbox)
        } catch {
            recorder.countDroppedDetails(details.count)
        }
    }

    /// Counts what is in the buffer anew, now and then: other instances of the service change it too.
    mutating func measureBuffer() {
        guard let cap, Clock.hasPassed(MartletLimits.bufferMeasure, since: lastMeasure) else { return }
        lastMeasure = Clock.monotonic()
        shipper.update { $0.bufferedBytes = cap.size }
    }

    // MARK: -

    private func isHeartbeatDue(isAsked: Bool) -> Bool {
        !isAsked && Clock.hasPassed(MartletLimits.heartbeat, since: lastSeal)
    }

    private func store(_ bytes: [UInt8], _ signal: Signal, requests: UInt64 = 0, in outbox: borrowing Outbox) throws {
        let isCompressed = configuration.compression == .gzip
        let body = isCompressed ? try Gzip.compress(bytes) : bytes
        let file = BatchFile(
            sequence: sequence + 1, signal: signal, requests: requests, isCompressed: isCompressed)
        guard makeRoom(for: body.count) else { return drop(requests, wasStored: false) }
        try outbox.store(body, as: file)
        shipper.update {
            $0.store(requests)
            $0.bufferedBytes += body.count
        }
    }

    /// Looks at the files only when the count says that room is short.
    private func makeRoom(for bytes: Int) -> Bool {
        guard shipper.status.bufferedBytes + bytes > configuration.bufferMax, let cap else { return true }
        let evicted = cap.makeRoom(for: bytes)
        for entry in evicted ?? [] where entry.instance == identity.instance {
            drop(entry.file.requests, wasStored: true)
        }
        shipper.update { $0.bufferedBytes = cap.size }
        return evicted != nil
    }

    private var cap: BufferCap? {
        service.map { BufferCap(service: $0, limit: configuration.bufferMax) }
    }

    private func drop(_ requests: UInt64, wasStored: Bool) {
        shipper.update { $0.drop(requests, .bufferFull, wasStored: wasStored) }
        log.once(.bufferFull, "The buffer is full (MARTLET_BUFFER_MAX); the oldest batches make room")
    }

    private mutating func use(_ directory: URL, insteadOf problems: [String]) {
        service = directory
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
