import Foundation
import MartletOTLP
import MartletTelemetry
import Tracing

extension MartletAgent {
    /// Counts a request that no instrument sees, such as one over a connection of the service's own, after its end. It is in
    /// the same report as all others: its endpoint is named, its details are kept or not, and the patterns and closures of the
    /// configuration may leave it out. Nothing is counted while ``isCapturing`` is `false`.
    ///
    ///     agent.record(MartletRequest("POST", url, status: 201, start: start, duration: clock.now - began))
    ///
    /// Within a span, the request belongs to its trace. A request of `URLSession`, or one with a span of its own, is counted
    /// already and would count twice. Thread-safe; takes some microseconds and waits for nothing.
    ///
    /// - Parameter request: a request as ``MartletRequest/init(_:_:kind:endpoint:status:errorType:start:duration:bytesSent:bytesReceived:)``
    ///   makes it, or one of ``requests``. If its endpoint is empty, the path decides. A method that no RFC names is `_OTHER`.
    public func record(_ request: MartletRequest) {
        guard isCapturing else { return }
        let recorder = core.recorder
        AgentCost.measure {
            let context = ServiceContext.current
            let kind: RequestKind = request.kind == .client ? .client : .server
            context?.requestSpan?.noteRequest(kind)
            let parent = context?.traceContext
            var content = SpanContent(name: request.method)
            content.setAttributes(request.attributes)
            EndedSpan(
                trace: recorder.settings.sampler.span(childOf: parent), parent: parent?.spanID,
                kind: kind == .client ? .client : .server, start: request.startNanoseconds,
                durationNanoseconds: request.duration.nanoseconds, content: content
            ).record(in: recorder)
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
