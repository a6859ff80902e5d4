import CMartletHooks
import Foundation
import MartletOTLP
import MartletTelemetry
import Synchronization
import Tracing

/// A running span that is recorded. Thread-safe. No list holds recordings: one that is never ended is released with the
/// last context that refers to it.
final class SpanRecording: LockedObject<SpanState>, @unchecked Sendable {
    /// The trace context for code within the span; `nil` outside any trace.
    let innerContext: TraceContext?
    /// The span's own trace context; `nil` for a span that is only counted and is not part of the trace.
    private let ownContext: TraceContext?
    let kind: SpanRecord.Kind
    private let parent: SpanID?
    private let start: UnixNanoseconds
    private let clocks = ClockPair()
    /// The scope of the in-memory agent that the span belongs to; `nil` for the process's agent.
    private let scope: CaptureScope?
    private let process = martlet_process()

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
        super.init(state: SpanState(name, kind, start: start, within: surrounding))
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
        super.init(state: SpanState(name, kind, start: start, within: surrounding))
    }

    /// A span may be forgotten without an end.
    deinit {
        if belongsToThisProcess { withState { $0.slot.end() } }
    }

    private var isSampled: Bool { ownContext?.isSampled == true }

    /// Whether the span began in this process. `false` in a forked child for a span from before the fork: the span and
    /// its lock belong to the parent.
    private var belongsToThisProcess: Bool { process == martlet_process() }

    var isRunning: Bool { belongsToThisProcess && withState(\.isRunning) }

    var name: String {
        get { belongsToThisProcess ? withState(\.content.name) : "" }
        set { change { $0.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { belongsToThisProcess ? withState(\.content.attributes) : [:] }
        set {
            guard belongsToThisProcess else { return }
            // The old attributes are released outside the lock: values may be of the service's own types, whose
            // deinitializers may call back here.
            _ = withState { state in
                defer {
                    if state.isRunning {
                        state.content.setAttributes(newValue)
                        state.nameSlot(kind.request, start: start)
                    }
                }
                return state.content.attributes
            }
        }
    }

    /// The target of a request, as far as its instrument has named it; `nil` for none, and unless the span is a client's.
    var target: RequestTarget? { kind == .client ? RequestTarget(attributes) : nil }

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

    /// Ends the span. Only the first call counts. The span is added to the statistics if it is a request, and to
    /// the details if they are kept.
    func end(at end: UnixNanoseconds) {
        guard belongsToThisProcess else { return }
        let duration = clocks.duration(from: start, to: end)
        let ended = withState { state -> SpanState? in
            guard state.isRunning else { return nil }
            let ended = state
            state.isRunning = false
            state.enclosing = nil
            state.slot.end()
            return ended
        }
        guard let ended else { return }
        let span = EndedSpan(
            trace: ownContext, parent: parent, kind: kind, start: start, durationNanoseconds: duration,
            content: ended.content)
        // A request that is not counted, because a pattern excludes it, must not take the span around it out of the count.
        guard let counted = CaptureSwitch.recorder(in: scope).map({ span.record(in: $0) }), !counted.isEmpty,
            let kind = kind.request
        else { return }
        ended.enclosing?.note(counted, kind)
    }

    private func change(_ body: (inout SpanContent) -> Void) {
        guard belongsToThisProcess else { return }
        withState { state in
            if state.isRunning { body(&state.content) }
        }
    }
}

/// The state of a ``SpanRecording``.
struct SpanState {
    var content: SpanContent
    var isRunning = true
    /// The nearest client, server or producer span of this process around this one; `nil` for none. Released at the end,
    /// so that spans do not keep each other alive.
    var enclosing: SpanRecording?
    /// The request in the process's record. A served request has one from its begin on, one that the service makes when its
    /// attributes say that it is a request.
    fileprivate var slot: RequestSlot
    private var isSlotNamed = false

    fileprivate init(
        _ name: String, _ kind: SpanRecord.Kind, start: UnixNanoseconds, within surrounding: SpanRecording?
    ) {
        content = SpanContent(name: name)
        enclosing = surrounding
        slot = kind == .server ? RequestSlot(.server, start: start) : .none
    }

    /// Names the request in the process's record, once its attributes do.
    fileprivate mutating func nameSlot(_ kind: RequestKind?, start: UnixNanoseconds) {
        guard let kind, !isSlotNamed, RequestSlot.isKept, let (name, isRoute) = content.requestName(kind) else {
            return
        }
        isSlotNamed = true
        if kind == .server {
            slot.name(kind, name, isRoute: isRoute)
        } else {
            slot = RequestSlot(kind, start: start, name: name, isRoute: isRoute)
        }
    }
}

// MARK: - One request, one count

extension SpanRecording {
    /// Notes that HTTP requests or calls within this span were counted before this span ends. If two instruments see one
    /// request, the instrument closer to the wire counts it: a span of the same kind and system is then kept as a span and
    /// not counted.
    func note(_ counted: CountedRequests, _ kind: RequestKind) {
        if self.kind.request == kind { change { $0.counted.formUnion(counted) } }
    }

    /// Notes that an HTTP request within this span was counted (``note(_:_:)``).
    func noteRequest(_ kind: RequestKind) { note(.http, kind) }

    /// This span if it may be a request, else the nearest span around it that may be one.
    fileprivate var requestSpan: SpanRecording? {
        guard belongsToThisProcess else { return nil }
        return kind.request == nil ? withState(\.enclosing) : self
    }
}

extension ServiceContext {
    /// The nearest span of this process around the context that may be a request; `nil` for none.
    var requestSpan: SpanRecording? { spanRecording?.requestSpan }
}

/// The name, attributes, events, links, status and error of a span so far, within their limits.
struct SpanContent: Sendable {
    var name: String
    private(set) var attributes: SpanAttributes = [:]
    private(set) var events: [Tracing.SpanEvent] = []
    private(set) var links: [Tracing.SpanLink] = []
    var status: SpanStatus?
    /// The error that was recorded last.
    var error: SpanError?
    /// The requests within the span that were counted.
    var counted = CountedRequests()
    private(set) var droppedAttributes: UInt32 = 0
    private(set) var droppedEvents: UInt32 = 0
    private(set) var droppedLinks: UInt32 = 0

    init(name: String) {
        self.name = name
    }

    /// Returns the name of the request for ``RequestSlot``; `nil` if the attributes do not name it yet. The span's name is not
    /// used, because some instruments write a statement there.
    fileprivate func requestName(_ kind: RequestKind) -> (name: String, isRoute: Bool)? {
        guard let method = text(AttributeName.method) else {
            let call = RPCSpanAttributes { name in attributes.get(name).flatMap { SpanAttribute($0) } }
            return call.map { ("\($0.httpMethod) \($0.method)", true) }
        }
        if let route = text(AttributeName.route) { return ("\(method) \(route)", true) }
        if let path = text(AttributeName.urlPath) {
            let host = kind == .client ? text(AttributeName.serverAddress) ?? "" : ""
            return ("\(method) \(host)\(path)", false)
        }
        return text(AttributeName.urlFull).map(RequestTarget.init(url:)).map {
            ("\(method) \($0.host)\($0.path)", false)
        }
    }

    /// Returns the text of an attribute; `nil` if it is missing or has another type.
    func text(_ name: String) -> String? {
        guard case .string(let text)? = attributes.get(name) else { return nil }
        return text
    }

    /// Replaces the attributes. Above the limit, existing attributes may change, and new ones are left out.
    mutating func setAttributes(_ new: SpanAttributes) {
        guard new.count > MartletLimits.attributes else { return attributes = new }
        var kept: SpanAttributes = [:]
        attributes.forEach { name, _ in kept.set(name, value: new.get(name)) }
        new.forEach { name, value in
            if kept.count < MartletLimits.attributes { kept.set(name, value: value) }
        }
        droppedAttributes &+= UInt32(clamping: new.count - kept.count)
        attributes = kept
    }

    mutating func add(_ event: Tracing.SpanEvent) {
        guard events.count < MartletLimits.spanEvents else { return droppedEvents &+= 1 }
        events.append(event)
    }

    mutating func add(_ link: Tracing.SpanLink) {
        guard links.count < MartletLimits.spanLinks else { return droppedLinks &+= 1 }
        links.append(link)
    }
}

/// The systems whose requests were counted within a span. HTTP requests and remote procedure calls, which go over HTTP,
/// are one of them.
struct CountedRequests: Sendable, Equatable {
    static let http = CountedRequests(hasHTTP: true)
    private static let maxSystems = 8

    private var hasHTTP = false
    private var systems: [String] = []

    init(hasHTTP: Bool = false) {
        self.hasHTTP = hasHTTP
    }

    var isEmpty: Bool { !hasHTTP && systems.isEmpty }

    /// Returns whether a request of a database or a message broker was counted; of HTTP for `nil`.
    func contains(_ system: String?) -> Bool { system.map(systems.contains) ?? hasHTTP }

    mutating func insert(_ system: String?) {
        guard let system else { return hasHTTP = true }
        if systems.count < Self.maxSystems, !systems.contains(system) { systems.append(system) }
    }

    mutating func formUnion(_ other: CountedRequests) {
        hasHTTP = hasHTTP || other.hasHTTP
        for system in other.systems { insert(system) }
    }
}

/// An error as a span records it.
struct SpanError: Sendable {
    static let messageAttribute = "exception.message"
    static let stackTraceAttribute = "exception.stacktrace"

    /// The type's name, with its module.
    let type: String
    /// The error's description, cut to twice the kept length, so that redaction sees the text after the cut.
    let message: String
    private let isCancellation: Bool
    /// Whether the error is about data. Its text may quote the data, so no word in it shows a failure of the network.
    private let isOfData: Bool

    init(_ error: any Error) {
        type = Self.name(of: Swift.type(of: error))
        message = String(describing: error).cut(toBytes: 2 * MartletLimits.messageLength)
        isCancellation = error is CancellationError
        isOfData = error is DecodingError || error is EncodingError
    }

    /// Returns a type's name without the addresses in the name of a private type, which differ in every process.
    private static func name(of type: Any.Type) -> String {
        var name = String(reflecting: type)
        while let start = name.range(of: "(unknown context at "), let end = name[start.upperBound...].range(of: ").") {
            name.removeSubrange(start.lowerBound..<end.upperBound)
        }
        return name
    }

    /// The attribute `error.type` of an HTTP request that ended with this error and without a response: a type of the
    /// small set if the error's text shows it, else the name of the Swift type.
    var requestErrorType: String {
        if isCancellation { return RequestOutcome.cancelledError }
        if isOfData { return type }
        let said = "\(type) \(message)"
        return Self.words.first { said.contains($0.word) }?.type ?? type
    }

    /// Words in errors of AsyncHTTPClient, NIO and the system (as of AsyncHTTPClient 1.37), and their types. The first
    /// matching word decides.
    private static let words: [(word: String, type: String)] = [
        ("HTTPClientError.cancelled", RequestOutcome.cancelledError),
        ("Timeout", "timeout"), ("deadlineExceeded", "timeout"), ("timed out", "timeout"),
        ("DNS error", "dns"), ("SocketAddressError", "dns"),
        ("onnection refused", "connection_refused"), ("unreachable", "connection_failed"),
        ("reset by peer", "connection_reset"), ("remoteConnectionClosed", "connection_reset"),
        ("redirectLimitReached", "too_many_redirects"), ("redirectCycleDetected", "too_many_redirects"),
        ("handshake", "tls"), ("CERTIFICATE_VERIFY_FAILED", "tls"), ("NIOSSL", "tls"),
        ("HTTPParserError", "invalid_response"),
        ("invalidURL", "invalid_request"), ("unsupportedScheme", "invalid_request"), ("emptyHost", "invalid_request"),
    ]

    func event(at instant: some TracerInstant, _ attributes: SpanAttributes) -> Tracing.SpanEvent {
        var all: SpanAttributes = ["exception.type": .string(type), Self.messageAttribute: .string(message)]
        all.merge(attributes)
        return SpanEvent(name: "exception", at: instant, attributes: all)
    }
}

/// Both clocks at one moment. If start and end are given by the wall clock, which may jump in between, a pair still
/// gives the duration by the monotonic clock.
struct ClockPair: Sendable {
    private let wall = Clock.wall()
    private let monotonic = Clock.monotonic()

    /// Returns the nanoseconds from `start`, given when the pair was made, to `end`, given now. Either may also be in
    /// the past: what counts is its distance from the wall clock at the time when it was given.
    func duration(from start: UnixNanoseconds, to end: UnixNanoseconds) -> UInt64 {
        let now = ClockPair()
        let beforeStart = Int64(truncatingIfNeeded: wall &- start)
        let beforeEnd = Int64(truncatingIfNeeded: now.wall &- end)
        let elapsed = Int64(truncatingIfNeeded: now.monotonic &- monotonic)
        return UInt64(max(0, elapsed &+ beforeStart &- beforeEnd))
    }
}
