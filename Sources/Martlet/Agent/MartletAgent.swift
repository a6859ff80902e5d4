import CMartletHooks
import Dispatch
import Foundation
import MartletOTLP
import MartletTelemetry
public import ServiceLifecycle
import Synchronization
import Tracing

/// Application performance monitoring for a service. Started before anything else, the agent counts and times every HTTP
/// request that the service makes over `URLSession`, and reports it to the collector.
///
///     let agent = MartletAgent.start()
///
/// No member throws or traps. ``flush()``, ``flush(within:)`` and ``shutdown(within:)`` wait for disk and network. The
/// start waits until its journal on disk is open, a few milliseconds and never more than 200. No other member waits for a
/// disk or a network. All members may be called from any thread.
///
/// The start sets handlers for the signals of crashes, which pass them on to the handlers before them
/// (``MartletConfiguration/watchCrashes``). So call it in `main`, after the service has set its own.
///
/// A forked child that does not execute another program has its own agent. That agent starts with the first request or
/// span to record, or with the first use of a member. In the child, a value from before the fork refers to the child's
/// agent.
///
/// A process has one agent. Each start returns a new value that holds it, and the agent ends when the last of these
/// values is shut down. So neither a library nor a test can end an agent that other code still uses. Tests have
/// ``inMemory(_:)``.
public final class MartletAgent: Service {
    private let started: AgentCore
    /// The agent that all holders share; in a forked child, the child's own.
    var core: AgentCore { RunningAgents.current(for: started) }
    private let isShutDown = Atomic<Bool>(false)

    /// Whether the shutdown of this value ends the agent even while others hold it: `true` for the value that
    /// ``inMemory(_:)`` returned.
    private let isOwner: Bool

    init(_ core: AgentCore, isOwner: Bool = false) {
        started = core
        self.isOwner = isOwner
    }

    /// Starts with the configuration in the environment. If a variable cannot be read, the agent logs a warning and
    /// uses the default.
    public static func start() -> MartletAgent {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment()
        if configuration.isEnabled {
            let log = AgentLog(configuration)
            for warning in warnings { log.warning(warning) }
        }
        return start(configuration)
    }

    /// Starts with a configuration made in code. If an agent is already running, that agent keeps its configuration,
    /// and the returned value holds it too. Unless it is an in-memory agent, it then logs a warning. An agent ends once
    /// all values that hold it have been shut down.
    public static func start(_ configuration: MartletConfiguration) -> MartletAgent {
        start(configuration, installing: EffectiveCapture.install)
    }

    /// - Parameter install: installs capture and returns the state that it reached.
    static func start(
        _ configuration: MartletConfiguration, installing install: (MartletConfiguration.Capture) -> EffectiveCapture
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

    /// The agent's backend for swift-distributed-tracing. The start installs it, unless
    /// ``MartletConfiguration/bootstrapsTracing`` is off or the service has already installed another.
    public var tracer: MartletTracer { MartletTracer() }

    /// Whether requests are captured. While it is `false`, requests run normally, and a request that ends during that
    /// time is not counted. `true` also restores at once all work that the agent has given up
    /// (``MartletStatus/captureReason``). After `false`, the agent does not resume by itself.
    public var isCapturing: Bool {
        get { isRunning && core.isCapturing }
        set { if isRunning { core.isCapturing = newValue } }
    }

    /// The agent's state at this moment, as a copy. Any thread may ask; no call waits for I/O.
    public var status: MartletStatus {
        let core = core
        let recorder = core.recorder
        let shipping = core.thread?.status ?? ShippingStatus()
        let capture = core.capture.now(restrictedBy: recorder)
        let (inFlight, oldest) = URLSessionCapture.inFlight(in: core.scope)
        return MartletStatus(
            captureMode: capture.mode, captureReason: capture.reason, captureLimits: capture.limits,
            rules: recorder.rules.count,
            unwatched: .nanoseconds(Int64(clamping: recorder.captureGap.nanoseconds())), inFlight: inFlight,
            oldestInFlight: oldest, internalErrors: CaptureSwitch.faults,
            cpuTime: .nanoseconds(Int64(clamping: shipping.threadCPU &+ AgentCost.nanoseconds)),
            memoryBytes: AgentMemory.bytes(of: recorder) + shipping.heldBytes,
            ledger: MartletStatus.Ledger(shipping.ledger(captured: recorder.captured)),
            droppedDetails: recorder.droppedDetails,
            bufferedBytes: shipping.bufferedBytes, waitingElsewhere: shipping.waitingElsewhere,
            bufferDirectory: shipping.bufferDirectory,
            bufferError: shipping.bufferError, journalError: shipping.journalError, transport: shipping.transport,
            lastUpload: shipping.lastUpload, lastCollector: shipping.lastCollector, uploadError: shipping.uploadError)
    }

    /// Returns when everything recorded so far is at the collector. Whatever cannot be delivered now is then in the
    /// outbox, or in memory if the outbox cannot be written (``MartletStatus/bufferError``). Returns at once for an
    /// in-memory agent.
    public func flush() async {
        guard let thread = core.thread else { return }
        await withCheckedContinuation { continuation in
            thread.requests.flush { _ in continuation.resume() }
        }
    }

    /// Flushes like ``flush()``, and returns after `limit` at the latest. The delivery goes on after that, and what it does
    /// not deliver waits. For a service that must not depend on its collector, such as a function before it is frozen.
    ///
    /// - Returns: `true` if everything that this process recorded before the call is at the collector; `false` if some of it
    ///   still waits or was just refused, or if time was up. An in-memory agent returns `true`.
    @discardableResult
    public func flush(within limit: Duration) async -> Bool {
        guard let thread = core.thread else { return true }
        return await Self.wait(atMost: limit) { thread.requests.flush($0) }
    }

    /// Stops capturing requests, flushes and ends; never takes longer than `limit`. Batches that could not be delivered
    /// by then stay in the outbox, and the service's next start delivers them. If the agent was started more than once,
    /// only the last shutdown ends it, and earlier ones flush. An in-memory agent ends when the value that
    /// ``inMemory(_:)`` returned is shut down. Later calls return at once.
    public func shutdown(within limit: Duration = .seconds(5)) async {
        guard !isShutDown.exchange(true, ordering: .relaxed) else { return }
        let core = core
        let isLast = RunningAgents.release(core, isOwner: isOwner)
        guard let thread = core.thread else { return }
        if isLast { martlet_note_stop() }
        _ = await Self.wait(atMost: limit) { done in
            // The thread gets a little less time, so that it can still note the outcome of the last upload.
            isLast ? thread.requests.stop(within: limit * 0.9, done) : thread.requests.flush(done)
        }
    }

    /// Makes a request and waits for its answer; returns `false` if it takes longer than `limit`.
    private static func wait(
        atMost limit: Duration, for request: (@escaping @Sendable (Bool) -> Void) -> Void
    ) async -> Bool {
        // The agent uses its own queue, because the global one may be full of the service's work.
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "martlet.wait"))
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let once = Once()
            let resume: @Sendable (Bool) -> Void = { if once.isFirst() { continuation.resume(returning: $0) } }
            timer.setEventHandler { resume(false) }
            timer.schedule(deadline: .now() + limit.seconds)
            timer.activate()
            request(resume)
        }
    }

    /// `ServiceLifecycle.Service`: runs until the group shuts down gracefully or the task is cancelled, then shuts the
    /// agent down within 5 seconds.
    public func run() async throws {
        let termination = core.watchTermination()
        try? await gracefulShutdown()
        await shutdown()
        withExtendedLifetime(termination) {}
    }

    private var isRunning: Bool { !isShutDown.load(ordering: .relaxed) && RunningAgents.isRunning(core) }
}

/// Lets only the first caller proceed.
private final class Once: Sendable {
    private let isTaken = Atomic<Bool>(false)

    func isFirst() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

extension MartletAgent {
    /// Starts an agent for tests. It captures as the real one does, and keeps the captured requests for the test to assert on
    /// (``requests``). It needs no collector, writes no file, has no thread and uploads nothing.
    ///
    /// It replaces the process's agent until this value's ``shutdown(within:)``, and a ``start(_:)`` returns it. It
    /// captures the requests of the whole process, except those within a scope of ``inMemory(_:isolation:_:)``. If
    /// there are several such agents, the newest captures them. For tests that run in parallel, give each a scope
    /// instead. Thread-safe.
    ///
    ///     let agent = MartletAgent.inMemory()
    ///     _ = try await URLSession.shared.data(from: url)
    ///     #expect(agent.requests.map(\.endpoint) == ["/users/{id}"])
    ///     await agent.shutdown()
    ///
    /// - Parameter configuration: the requests to capture and the names of their endpoints. Its settings for uploads,
    ///   buffer and interval have no effect. The defaults ignore the environment.
    public static func inMemory(_ configuration: MartletConfiguration = MartletConfiguration()) -> MartletAgent {
        MartletAgent(RunningAgents.add(AgentCore(inMemory: configuration)), isOwner: true)
    }

    /// Runs `body` with an in-memory agent, like that of ``inMemory(_:)``. It captures only the requests made within
    /// `body`, by its task and the tasks that it starts, and no other agent captures these. So each of several parallel
    /// tests can have its own agent. The agent ends with `body`.
    ///
    ///     try await MartletAgent.inMemory { agent in
    ///         try await checkout.buy()
    ///         #expect(agent.requests.count == 3)
    ///     }
    ///
    /// A request belongs to the scope in which its task is resumed, a span to the scope in which it starts. Detached
    /// tasks, and threads and queues that you create, are outside. A ``start(_:)`` in `body` returns this agent. Every
    /// session is captured, even if `configuration` asks for explicit capture.
    public static func inMemory<Result>(
        _ configuration: MartletConfiguration = MartletConfiguration(), isolation: isolated (any Actor)? = #isolation,
        _ body: (MartletAgent) async throws -> Result
    ) async rethrows -> Result {
        let scope = CaptureScope()
        let core = RunningAgents.add(AgentCore(inMemory: configuration, scope: scope))
        defer { RunningAgents.release(core, isOwner: true) }
        return try await CaptureScope.$current.withValue(scope) { try await body(MartletAgent(core)) }
    }

    /// The requests that an in-memory agent has captured, in the order in which they ended; empty for any other agent.
    /// A request is added before its caller receives the answer, so a test need not wait for it. Above 100,000 requests
    /// the oldest are removed.
    public var requests: [MartletRequest] { core.recorder.recordedRequests?.all ?? [] }
}

extension MartletAgent {
    /// Counts a request that no instrument captures, such as one over the service's own connection, after its end. It
    /// appears in the same reports as all others: its endpoint is named, its details may be kept, and the patterns and
    /// closures of the configuration may exclude it. Nothing is counted while ``isCapturing`` is `false`.
    ///
    ///     agent.record(MartletRequest("POST", url, status: 201, start: start, duration: clock.now - began))
    ///
    /// Within a span, the request belongs to its trace. Do not record a request of `URLSession` or one with its own
    /// span: it is counted already and would count twice. Thread-safe; takes some microseconds and waits for nothing.
    ///
    /// - Parameter request: a request as ``MartletRequest/init(_:_:kind:endpoint:status:errorType:start:duration:bytesSent:bytesReceived:)``
    ///   makes it, or one of ``requests``. If its endpoint is empty, the path decides; that of an answered
    ///   request is then `{unmatched}`, unless a template matches. A method that no RFC names is `_OTHER`.
    public func record(_ request: MartletRequest) {
        guard isCapturing else { return }
        let recorder = core.recorder
        AgentCost.measure {
            let context = ServiceContext.current
            let kind: RequestKind = request.kind == .client ? .client : .server
            let parent = context?.traceContext
            var content = SpanContent(name: request.method)
            content.setAttributes(request.attributes)
            let counted = EndedSpan(
                trace: recorder.settings.sampler.span(childOf: parent), parent: parent?.spanID,
                kind: kind == .client ? .client : .server, start: request.startNanoseconds,
                durationNanoseconds: request.duration.nanoseconds, content: content
            ).record(in: recorder)
            if !counted.isEmpty { context?.requestSpan?.note(counted, kind) }
        }
    }
}

extension MartletRequest {
    /// The attributes of a span of the request (semantic conventions, "HTTP Spans").
    fileprivate var attributes: SpanAttributes {
        var attributes: SpanAttributes = [:]
        attributes[AttributeName.method] = method
        let address = URL(string: url)
        if address?.scheme != nil, address?.host != nil {
            attributes[AttributeName.urlFull] = url
        } else {
            attributes[AttributeName.serverAddress] = host
            attributes[AttributeName.serverPort] = port
            attributes[AttributeName.urlPath] = url
        }
        if !endpoint.isEmpty {
            attributes[kind == .client ? AttributeName.urlTemplate : AttributeName.route] = endpoint
        }
        if let status { attributes[AttributeName.status] = status }
        if let errorType { attributes[AttributeName.errorType] = errorType }
        attributes[AttributeName.requestBodySize] = Int64(clamping: kind == .client ? bytesSent : bytesReceived)
        attributes[AttributeName.responseBodySize] = Int64(clamping: kind == .client ? bytesReceived : bytesSent)
        return attributes
    }

    /// The start in nanoseconds; 0 for a date before 1970.
    fileprivate var startNanoseconds: UnixNanoseconds {
        let seconds = start.timeIntervalSince1970
        return seconds > 0 ? UInt64(min(seconds, 0x1p33) * 1e9) : 0
    }
}
