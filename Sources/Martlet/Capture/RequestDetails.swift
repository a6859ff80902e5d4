#if os(Linux)
import Dispatch
import Foundation
import FoundationNetworking
import MartletOTLP
import MartletTelemetry

/// The kept details of a request, from its end until they become a span. They hold only header fields and bodies within
/// the limits, because the request and the response may be larger.
struct RequestDetails: Sendable {
    private let request: CapturedRequest
    private let message: String?
    private let isConnectionReused: Bool
    private let url: URL
    private let originalMethod: String?
    private let context: TraceContext
    private let parent: SpanID?
    private let resends: Int
    private let peer: (address: String, port: Int)?
    private let contents: DetailContents
    private let requestHeaders: HeaderFields
    private let responseHeaders: HeaderFields
    private let requestBody: BodySample?
    private let responseBody: BodySample?

    init(
        of request: CapturedRequest, _ finished: FinishedRequest, task: URLSessionTask?, answer: RequestAnswer,
        parent: TraceContext?, contents: DetailContents, handle: EasyHandle?
    ) {
        let isFailure = request.outcome.isFailure(for: .client)
        self.contents = contents
        peer = handle?.peer
        requestHeaders = contents.fields(of: finished.original.allHTTPHeaderFields)
        responseHeaders = contents.fields(of: answer.response?.allHeaderFields)
        requestBody = contents.sample(
            RequestBody.beginning(of: finished.original, task, bytes: contents.bodyLimit + 1),
            contentType: finished.original.value(forHTTPHeaderField: "Content-Type"), isFailure: isFailure)
        responseBody = contents.sample(
            answer.body, contentType: answer.response?.value(forHTTPHeaderField: "Content-Type"), isFailure: isFailure)
        self.request = request
        message = answer.message
        isConnectionReused = answer.figures?.isConnectionReused == true
        url = finished.url
        originalMethod = request.method == RequestDimensions.otherMethodOrError ? finished.original.httpMethod : nil
        context = finished.context
        self.parent = parent?.spanID
        resends = finished.resends
    }

    /// An estimate of the memory for the details, in bytes.
    var bytes: Int {
        2048 + requestHeaders.bytes + responseHeaders.bytes + (requestBody?.bytes.count ?? 0)
            + (responseBody?.bytes.count ?? 0)
    }

    func span(_ dimensions: RequestDimensions) -> SpanRecord {
        var span = SpanRecord(
            traceID: context.traceID, spanID: context.spanID, parentSpanID: parent,
            name: SpanRecord.name(of: dimensions), kind: .client, start: request.start,
            durationNanoseconds: request.durationNanoseconds)
        span.traceState = context.traceState
        span.isSampled = context.isSampled
        span.request = dimensions
        span.url = contents.redaction.url(url.absoluteString)
        span.isError = request.outcome.isFailure(for: .client)
        span.message = message.map(contents.redaction.message)
        span.bytesSent = request.bytesSent
        span.bytesReceived = request.bytesReceived
        span.attributes = attributes
        span.droppedAttributes = requestHeaders.dropped &+ responseHeaders.dropped
        return span
    }

    /// The phases with the names of their attributes, which are built once.
    private static let phases = RequestPhase.allCases.map { ($0, "\(AttributeName.phase).\($0.rawValue)") }

    private var attributes: [String: SpanAttribute] {
        var attributes: [String: SpanAttribute] = [:]
        attributes.reserveCapacity(16)
        for (phase, name) in Self.phases {
            guard let nanoseconds = request.phases[phase] else { continue }
            attributes[name] = .double(Double(nanoseconds) / 1e9)
        }
        if let version = request.httpVersion { attributes[AttributeName.protocolVersion] = .string(version.text) }
        if let peer {
            attributes[AttributeName.peerAddress] = .string(peer.address)
            attributes[AttributeName.peerPort] = .integer(Int64(peer.port))
        }
        if let originalMethod { attributes[AttributeName.originalMethod] = .string(originalMethod) }
        if resends > 0 { attributes[AttributeName.resendCount] = .integer(Int64(resends)) }
        if isConnectionReused { attributes[AttributeName.connectionReused] = .boolean(true) }
        if let body = requestBody?.text(contents.redaction) { attributes[AttributeName.requestBody] = .string(body) }
        if let body = responseBody?.text(contents.redaction) { attributes[AttributeName.responseBody] = .string(body) }
        add(requestHeaders, AttributeName.requestHeaderPrefix, to: &attributes)
        add(responseHeaders, AttributeName.responseHeaderPrefix, to: &attributes)
        return attributes
    }

    /// Adds each header field as a list of values (semantic conventions, "HTTP Spans", `http.request.header.<key>`).
    private func add(_ fields: HeaderFields, _ prefix: String, to attributes: inout [String: SpanAttribute]) {
        for field in contents.redaction.headers(fields.kept) {
            attributes["\(prefix).\(field.name.lowercased())"] = .array([.string(field.value)])
        }
    }
}

/// The body that is sent with a request, if it is in memory. Bodies from files and streams are not read.
enum RequestBody {
    /// Returns at most the first `bytes` bytes of a body in memory; `nil` for any other. Call it on the session's
    /// queue, because Foundation changes the body only there.
    ///
    /// - Parameter task: `nil` outside that queue. In that case the result is `nil`, because the task may send another
    ///   body.
    static func beginning(of request: URLRequest, _ task: URLSessionTask?, bytes: Int) -> Data? {
        guard let task else { return nil }
        guard let upload = task as? URLSessionUploadTask else { return request.httpBody?.prefix(bytes) }
        // An upload task sends its own body instead of the request's.
        guard let body = knownBody(of: upload) else { return nil }
        var beginning = Data()
        body.subdata(in: 0..<min(bytes, body.count)).enumerateBytes { part, _, _ in beginning.append(part) }
        return beginning
    }

    /// Returns the data that was passed to `uploadTask(with:from:)`. Foundation keeps it in `URLSessionTask.knownBody`,
    /// an optional enum with data, a file or a stream. `Mirror` reads that property, so the result is `nil` if
    /// Foundation stores the body differently.
    private static func knownBody(of task: URLSessionTask) -> DispatchData? {
        guard let bodyIndex, let stored = mirror(of: task)?.children.dropFirst(bodyIndex).first?.value,
            let body = StoredField.unwrapped(stored)
        else { return nil }
        return Mirror(reflecting: body).children.first?.value as? DispatchData
    }

    /// The index of `knownBody` among a task's properties, found in a task that never runs; `nil` if there is none. Of
    /// a running task, only this property may be read.
    private static let bodyIndex: Int? = mirror(of: URLSessionTask()).flatMap { mirror in
        mirror.children.enumerated().first { $0.element.label == "knownBody" }?.offset
    }

    private static func mirror(of task: URLSessionTask) -> Mirror? {
        var mirror: Mirror? = Mirror(reflecting: task)
        while let current = mirror, current.subjectType != URLSessionTask.self { mirror = current.superclassMirror }
        return mirror
    }
}
#endif
