import Dispatch
import Foundation
import MartletTelemetry
public import ServiceLifecycle
import Synchronization

/// Martlet in a service: start it first thing, and every HTTP request that the service makes over `URLSession` is counted,
/// timed and reported to the collector.
///
///     let agent = MartletAgent.start()
///
/// Nothing here throws, traps or waits for a disk or a network, ``flush()`` and ``shutdown(within:)`` excepted, which
/// exist to wait, and the start, which waits until its journal on disk is open, a few milliseconds and never more than
/// 200. All of it may be called from any thread.
public final class MartletAgent: Service {
    private let recorder: Recorder
    private let shipper: Shipper?
    private let capture: CaptureState
    private let isShutDown = Atomic<Bool>(false)

    /// Of the process: the hook in a class is one for all.
    private static let running = Mutex<MartletAgent?>(nil)

    /// Starts with the configuration that the environment asks for. A variable that cannot be read is a warning in the
    /// log, and its default is used.
    public static func start() -> MartletAgent {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment()
        if configuration.isEnabled {
            let log = AgentLog(configuration)
            for warning in warnings { log.warning(warning) }
        }
        return start(configuration)
    }

    /// Starts with a configuration made in code. While an agent runs, that one is returned and nothing changes, with a
    /// warning: a process has one.
    public static func start(_ configuration: MartletConfiguration) -> MartletAgent {
        start(configuration, installing: CaptureState.install)
    }

    /// - Parameter install: What puts capture in place, and tells how far it came.
    static func start(
        _ configuration: MartletConfiguration, installing install: (MartletConfiguration.Capture) -> CaptureState
    ) -> MartletAgent {
        let (agent, warnings) = running.withLock { running in
            if let running, running.isRunning {
                return (running, ["An agent is running already; its configuration stays in force"])
            }
            var warnings: [String] = []
            let agent = MartletAgent(configuration, installing: install, &warnings)
            if configuration.isEnabled { running = agent }
            return (agent, warnings)
        }
        // Behind the lock: a service's log handler may start the agent itself.
        let log = AgentLog(configuration)
        for warning in warnings { log.warning(warning) }
        agent.shipper?.awaitOpening()
        return agent
    }

    private init(
        _ configuration: MartletConfiguration, installing install: (MartletConfiguration.Capture) -> CaptureState,
        _ warnings: inout [String]
    ) {
        let shipper = configuration.isEnabled ? Shipper() : nil
        self.shipper = shipper
        recorder = Recorder(configuration, onFullSegment: { [weak shipper] in shipper?.signal() })
        guard let shipper else {
            capture = CaptureState(mode: .off, reason: "MARTLET_ENABLED is false")
            return
        }
        capture = install(configuration.capture)
        if let reason = capture.reason { warnings.append("Capture is \(capture.mode.rawValue): \(reason)") }
        warnings += capture.limits
        Capture.connect(to: recorder)
        if configuration.bootstrapsTracing, let present = TracingBootstrap.install() {
            warnings.append(
                "Tracing is bootstrapped with \(type(of: present)) already; a MultiplexInstrument can hold MartletTracer too"
            )
        }
        shipper.start(
            configuration, resource: TelemetryResource(configuration), capture: capture, recorder: recorder,
            log: AgentLog(configuration))
    }

    /// The backend of swift-distributed-tracing that the start installed, unless it was told not to
    /// (``MartletConfiguration/bootstrapsTracing``) or the service had another.
    public var tracer: MartletTracer { MartletTracer() }

    /// The switch: `false`, and no request is seen until it is `true` again. Requests go on as they would; one that ends
    /// while it is off is not counted. `true` also where the agent switched itself off (``MartletStatus/captureReason``).
    public var isCapturing: Bool {
        get { isRunning && Capture.isOn.load(ordering: .relaxed) }
        set {
            guard isRunning else { return }
            newValue ? Capture.switchOn() : Capture.switchOff()
        }
    }

    public var status: MartletStatus {
        let shipping = shipper?.status ?? ShippingAccount()
        let capture = capture.now(keeping: recorder)
        let (inFlight, oldest) = Capture.inFlight
        return MartletStatus(
            captureMode: capture.mode, captureReason: capture.reason, captureLimits: capture.limits,
            inFlight: inFlight, oldestInFlight: oldest, internalErrors: Capture.faults,
            cpuTime: .nanoseconds(Int64(clamping: shipping.threadCPU &+ AgentCost.nanoseconds)),
            memoryBytes: AgentMemory.bytes(recorder, shipping),
            ledger: shipping.ledger(captured: recorder.captured), droppedDetails: recorder.droppedDetails,
            bufferedBytes: shipping.bufferedBytes, bufferDirectory: shipping.bufferDirectory,
            bufferError: shipping.bufferError, journalError: shipping.journalError, transport: shipping.transport,
            lastUpload: shipping.lastUpload, uploadError: shipping.uploadError)
    }

    /// Returns when everything recorded so far is at the collector, or in the outbox if it cannot be delivered now.
    public func flush() async {
        guard let shipper else { return }
        await withCheckedContinuation { continuation in
            shipper.flush { continuation.resume() }
        }
    }

    /// Stops seeing requests, flushes and ends; never takes longer than `limit`. What could not be delivered by then is
    /// in the outbox, and the service's next start delivers it. Later calls return at once.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        guard let shipper, !isShutDown.exchange(true, ordering: .relaxed) else { return }
        Self.running.withLock { running in
            // Another one may have been started meanwhile.
            guard running === self else { return }
            Capture.disconnect()
            running = nil
        }
        // The thread gets a little less, so that it can still note what became of the last upload.
        let once = Once()
        await withCheckedContinuation { continuation in
            let resume: @Sendable () -> Void = { if once.isFirst() { continuation.resume() } }
            shipper.stop(within: limit * 0.9, resume)
            // A queue of its own: the global one may be full of the service's work.
            DispatchQueue(label: "martlet.shutdown").asyncAfter(deadline: .now() + limit.seconds, execute: resume)
        }
    }

    /// `ServiceLifecycle.Service`: runs until the group shuts down gracefully or the task is cancelled, then shuts the
    /// agent down within 5 seconds.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }

    private var isRunning: Bool { shipper != nil && !isShutDown.load(ordering: .relaxed) }
}

/// Tells the first caller from all others.
private final class Once: Sendable {
    private let isTaken = Atomic<Bool>(false)

    func isFirst() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

extension TelemetryResource {
    init(_ configuration: MartletConfiguration, instance: String = UUID().uuidString.lowercased()) {
        self.init(
            service: configuration.serviceName, version: configuration.serviceVersion,
            environment: configuration.environment, instance: instance,
            host: ProcessInfo.processInfo.hostName)
    }
}
