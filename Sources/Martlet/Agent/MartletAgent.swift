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
///
/// A child that the process forks, and that executes no other program, has an agent of its own, which begins when something
/// is first to be seen or asked for. A value from before the fork stands in the child for the child's.
///
/// A process has one agent. Each start returns a value of its own that holds it, and the last of them that is shut down ends
/// it: neither a library nor another test can end what somebody else still uses. For tests there is ``inMemory(_:)``.
public final class MartletAgent: Service {
    private let started: AgentCore
    /// Shared by all that hold it. In a forked child it is another one than in the parent.
    var core: AgentCore { RunningAgents.own(started) }
    private let isShutDown = Atomic<Bool>(false)

    /// One in memory ends with what it was made as.
    private let isOwner: Bool

    init(_ core: AgentCore, isOwner: Bool = false) {
        started = core
        self.isOwner = isOwner
    }

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

    /// Starts with a configuration made in code. While an agent runs, it goes on with its own configuration, with a warning
    /// where it is not one in memory, and what is returned holds it as well: it ends when all that hold it were shut down.
    public static func start(_ configuration: MartletConfiguration) -> MartletAgent {
        start(configuration, installing: CaptureState.install)
    }

    /// - Parameter install: What puts capture in place, and tells how far it came.
    static func start(
        _ configuration: MartletConfiguration, installing install: (MartletConfiguration.Capture) -> CaptureState
    ) -> MartletAgent {
        let (core, isNew) = RunningAgents.hold { AgentCore(configuration, installing: install) }
        let log = AgentLog(configuration)
        if isNew {
            core.startShipping(log)
        } else if core.thread != nil {
            log.warning("An agent is running already; its configuration stays in force")
        }
        core.thread?.awaitOpening()
        return MartletAgent(core)
    }

    /// The backend of swift-distributed-tracing that the start installed, unless it was told not to
    /// (``MartletConfiguration/bootstrapsTracing``) or the service had another.
    public var tracer: MartletTracer { MartletTracer() }

    /// The switch: `false`, and no request is seen until it is `true` again. Requests go on as they would; one that ends
    /// while it is off is not counted. `true` also switches on what the agent has switched off itself
    /// (``MartletStatus/captureReason``), at once; `false` is above its decision to go on.
    public var isCapturing: Bool {
        get { isRunning && core.isCapturing }
        set { if isRunning { core.isCapturing = newValue } }
    }

    public var status: MartletStatus {
        let core = core
        let recorder = core.recorder
        let shipping = core.thread?.status ?? ShippingStatus()
        let capture = core.capture.now(keeping: recorder)
        let (inFlight, oldest) = URLSessionCapture.inFlight(in: core.scope)
        return MartletStatus(
            captureMode: capture.mode, captureReason: capture.reason, captureLimits: capture.limits,
            unwatched: .nanoseconds(Int64(clamping: recorder.unwatched.nanoseconds())), inFlight: inFlight,
            oldestInFlight: oldest, internalErrors: CaptureSwitch.faults,
            cpuTime: .nanoseconds(Int64(clamping: shipping.threadCPU &+ AgentCost.nanoseconds)),
            memoryBytes: AgentMemory.bytes(of: recorder) + shipping.heldBytes,
            ledger: shipping.ledger(captured: recorder.captured), droppedDetails: recorder.droppedDetails,
            bufferedBytes: shipping.bufferedBytes, waitingElsewhere: shipping.waitingElsewhere,
            bufferDirectory: shipping.bufferDirectory,
            bufferError: shipping.bufferError, journalError: shipping.journalError, transport: shipping.transport,
            lastUpload: shipping.lastUpload, uploadError: shipping.uploadError)
    }

    /// Returns when everything recorded so far is at the collector, or if it cannot be delivered now in the outbox (in memory
    /// where that cannot be written, ``MartletStatus/bufferError``). At once for an agent in memory.
    public func flush() async {
        guard let thread = core.thread else { return }
        await withCheckedContinuation { continuation in
            thread.requests.flush { continuation.resume() }
        }
    }

    /// Stops seeing requests, flushes and ends; never takes longer than `limit`. What could not be delivered by then is
    /// in the outbox, and the service's next start delivers it. Where the agent was started more than once, the last shutdown
    /// does that, and one before flushes; one in memory ends with that of what ``inMemory(_:)`` returned. Later calls return
    /// at once.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        guard !isShutDown.exchange(true, ordering: .relaxed) else { return }
        let core = core
        let isLast = RunningAgents.release(core, isOwner: isOwner)
        guard let thread = core.thread else { return }
        let once = Once()
        await withCheckedContinuation { continuation in
            let resume: @Sendable () -> Void = { if once.isFirst() { continuation.resume() } }
            // The thread gets a little less, so that it can still note what became of the last upload.
            isLast ? thread.requests.stop(within: limit * 0.9, resume) : thread.requests.flush(resume)
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

    private var isRunning: Bool { !isShutDown.load(ordering: .relaxed) && RunningAgents.isRunning(core) }
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
