#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry

/// What is kept of a request whose details are kept, until it is folded and a span is made of it. Holds no body beyond
/// its limit, and not the request that might have one.
struct RequestDetails: Sendable {
    let start: UnixNanoseconds
    let durationNanoseconds: UInt64
    let bytes: (sent: UInt64, received: UInt64)
    let phases: PhaseDurations
    let isError: Bool
    let context: TraceContext
    let parent: SpanID?
    let url: URL
    let originalMethod: String?
    let resends: Int
    let answer: RequestAnswer

    func span(_ dimensions: RequestDimensions) -> SpanRecord {
        var span = SpanRecord(
            traceID: context.traceID, spanID: context.spanID, parentSpanID: parent,
            name: SpanRecord.name(of: dimensions), kind: .client, start: start,
            durationNanoseconds: durationNanoseconds)
        span.traceState = context.traceState
        span.request = dimensions
        span.url = url.absoluteString
        span.isError = isError
        span.message = answer.message
        (span.bytesSent, span.bytesReceived) = bytes
        span.attributes = attributes
        return span
    }

    private var attributes: [String: SpanAttribute] {
        var attributes: [String: SpanAttribute] = [:]
        for phase in RequestPhase.allCases {
            guard let nanoseconds = phases[phase] else { continue }
            attributes[AttributeName.phase(phase)] = .double(Double(nanoseconds) / 1e9)
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
