import CMartletHooks
import MartletTelemetry
import Synchronization
import Tracing

/// A span that runs and is recorded. Thread-safe. No list holds it: a span that is never ended is released with the last
/// context that names it.
final class SpanRecording: Sendable {
    /// The trace context for code within the span; `nil` outside any trace.
    let innerContext: TraceContext?
    /// The span's own trace context; `nil` for a span that is only counted and has no part in the trace.
    private let ownContext: TraceContext?
    let kind: SpanRecord.Kind
    private let parent: SpanID?
    private let start: UnixNanoseconds
    private let clocks = ClockPair()
    /// The scope of the agent in memory that the span belongs to; `nil` for the process's agent.
    private let scope: CaptureScope?
    private let state: Lock<State>
    private let process = martlet_process()

    private struct State {
        var content: SpanContent
        var isRunning = true
        /// The nearest client or server span of this process around this one; `nil` for none. It is released at the end, so
        /// that spans do not keep each other alive.
        var enclosing: SpanRecording?
    }

    /// - Parameters:
    ///   - parent: the parent span, of this process or a remote one.
    ///   - surrounding: the nearest span around this one that may be a request.
    ///   - start: the start, by the caller's clock.
    init(
        _ name: String, _ trace: TraceContext, parent: SpanID?, within surrounding: SpanRecording?,
        kind: SpanRecord.Kind, start: UnixNanoseconds, scope: CaptureScope? = nil
    ) {
        self.innerContext = trace
        ownContext = trace
        self.kind = kind
        self.parent = parent
        self.start = start
        self.scope = scope
        state = Lock(State(content: SpanContent(name: name), enclosing: surrounding))
    }

    /// Makes a recording that is only counted, and only if the span is a request.
    ///
    /// - Parameter trace: the caller's trace context, which passes through the span.
    init(
        countedOnly name: String, _ trace: TraceContext?, within surrounding: SpanRecording?, kind: SpanRecord.Kind,
        start: UnixNanoseconds, scope: CaptureScope?
    ) {
        self.innerContext = trace
        ownContext = nil
        self.kind = kind
        parent = nil
        self.start = start
        self.scope = scope
        state = Lock(State(content: SpanContent(name: name), enclosing: surrounding))
    }

    private var isSampled: Bool { ownContext?.isSampled == true }

    /// Whether the span began in this process. `false` in a forked child for a span from before the fork: the span and its
    /// lock belong to the parent.
    private var isOfThisProcess: Bool { process == martlet_process() }

    var isRunning: Bool { isOfThisProcess && state.withLock(\.isRunning) }

    var name: String {
        get { isOfThisProcess ? state.withLock(\.content.name) : "" }
        set { change { $0.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { isOfThisProcess ? state.withLock(\.content.attributes) : [:] }
        set {
            guard isOfThisProcess else { return }
            // The replaced attributes are released after the lock is open: values may be of the service's own types, whose
            // deinitializers may call back here.
            _ = state.withLock { state in
                defer { if state.isRunning { state.content.setAttributes(newValue) } }
                return state.content.attributes
            }
        }
    }

    func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    func add(_ event: Tracing.SpanEvent) {
        if isSampled { change { $0.add(event) } }
    }

    func add(_ link: Tracing.SpanLink) {
        if isSampled { change { $0.add(link) } }
    }

    func record(_ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> some TracerInstant) {
        let recorded = SpanError(error)
        change { $0.error = recorded }
        if isSampled { add(recorded.event(at: instant(), attributes)) }
    }

    /// Ends the span. Only the first call counts. The span goes to the statistics where it is an HTTP request, and to the
    /// details where they are kept.
    func end(at end: UnixNanoseconds) {
        guard isOfThisProcess else { return }
        let duration = clocks.duration(from: start, to: end)
        let ended = state.withLock { state -> State? in
            guard state.isRunning else { return nil }
            let ended = state
            state.isRunning = false
            state.enclosing = nil
            return ended
        }
        guard let ended else { return }
        let span = EndedSpan(
            trace: ownContext, parent: parent, kind: kind, start: start, durationNanoseconds: duration,
            content: ended.content)
        // A span that is not a request but lies around one notes that request on its own enclosing span too.
        if let kind = kind.request, span.isRequest || ended.content.enclosesCountedRequest {
            ended.enclosing?.noteRequest(kind)
        }
        if let recorder = CaptureSwitch.recorder(in: scope) { span.record(in: recorder) }
    }

    private func change(_ body: (inout SpanContent) -> Void) {
        guard isOfThisProcess else { return }
        state.withLock { state in
            if state.isRunning { body(&state.content) }
        }
    }
}

// MARK: - One request, one count

extension SpanRecording {
    /// Notes a request that was made within this span and is counted on its own, before this span ends. If two instruments
    /// see one request, the instrument closer to the wire counts it: a span of the same kind is then kept as a span and not
    /// counted.
    func noteRequest(_ kind: RequestKind) {
        if self.kind.request == kind { change { $0.enclosesCountedRequest = true } }
    }

    /// The span itself if it may be a request, else the nearest span around it that may be one.
    fileprivate var requestSpan: SpanRecording? {
        guard isOfThisProcess else { return nil }
        return kind.request == nil ? state.withLock(\.enclosing) : self
    }
}

extension ServiceContext {
    /// The nearest span of this process around the context that may be a request; `nil` for none.
    var requestSpan: SpanRecording? { spanRecording?.requestSpan }
}
