#if os(Linux)
import Foundation
import FoundationNetworking
import MartletOTLP
import MartletTelemetry

/// What is kept of a request whose details are kept, until it is folded and a span is made of it. Holds no body beyond
/// its limit, and not the request that might have one.
struct RequestDetails: Sendable {
    private let request: CapturedRequest
    private let answer: RequestAnswer
    private let url: URL
    private let originalMethod: String?
    private let context: TraceContext
    private let parent: SpanID?
    private let resends: Int

    init(
        of request: CapturedRequest, _ end: RequestObservation.End, answer: RequestAnswer, url: URL,
        parent: TraceContext?
    ) {
        self.request = request
        self.answer = answer
        self.url = url
        originalMethod = request.method == HTTPMethod.other ? end.request.httpMethod : nil
        context = end.context
        self.parent = parent?.spanID
        resends = end.resends
    }

    func span(_ dimensions: RequestDimensions) -> SpanRecord {
        var span = SpanRecord(
            traceID: context.traceID, spanID: context.spanID, parentSpanID: parent,
            name: SpanRecord.name(of: dimensions), kind: .client, start: request.start,
            durationNanoseconds: request.durationNanoseconds)
        span.traceState = context.traceState
        span.request = dimensions
        span.url = url.absoluteString
        span.isError = request.outcome.isFailure(for: .client)
        span.message = answer.message
        span.bytesSent = request.bytesSent
        span.bytesReceived = request.bytesReceived
        span.attributes = attributes
        return span
    }

    private var attributes: [String: SpanAttribute] {
        var attributes: [String: SpanAttribute] = [:]
        for phase in RequestPhase.allCases {
            guard let nanoseconds = request.phases[phase] else { continue }
            attributes["\(AttributeName.phase).\(phase.rawValue)"] = .double(Double(nanoseconds) / 1e9)
        }
        attributes[AttributeName.protocolVersion] = answer.httpVersion.map { .string($0) }
        attributes[AttributeName.peerAddress] = answer.peer.map { .string($0.address) }
        attributes[AttributeName.peerPort] = answer.peer.map { .integer(Int64($0.port)) }
        attributes[AttributeName.originalMethod] = originalMethod.map { .string($0) }
        if resends > 0 { attributes[AttributeName.resendCount] = .integer(Int64(resends)) }
        if answer.figures?.isConnectionReused == true { attributes[AttributeName.connectionReused] = .boolean(true) }
        return attributes
    }
}
#endif
