import MartletOTLP
import MartletTelemetry
import SwiftProtobuf

/// Turns the body of an OTLP request into values, or says why not. Pure, so it can be called from anywhere.
package struct Intake: Sendable {
    package var limits: IntakeLimits

    package init(limits: IntakeLimits = IntakeLimits()) {
        self.limits = limits
    }

    /// The body of `POST /v1/metrics`.
    package func metrics(
        _ body: [UInt8], encoding: IntakeEnvelope.Encoding
    ) throws(IntakeRejection) -> Taken<InstanceMetrics> {
        let request: OTLPExportMetricsServiceRequest = try message(in: body, encoding: encoding)
        var refusals = Refusals()
        var taken: [InstanceMetrics] = []
        for part in request.resourceMetrics {
            var decoding = MetricsDecoding(limits: limits, refusals: refusals)
            if let metrics = decoding.decode(part) { taken.append(metrics) }
            refusals = decoding.refusals
        }
        return Taken(values: taken, refusals: refusals)
    }

    /// The body of `POST /v1/traces`.
    package func details(
        _ body: [UInt8], encoding: IntakeEnvelope.Encoding
    ) throws(IntakeRejection) -> Taken<DetailsBatch> {
        let request: OTLPExportTraceServiceRequest = try message(in: body, encoding: encoding)
        var refusals = Refusals()
        var taken: [DetailsBatch] = []
        for part in request.resourceSpans {
            var decoding = SpansDecoding(limits: limits, refusals: refusals)
            if let details = decoding.decode(part) { taken.append(details) }
            refusals = decoding.refusals
        }
        return Taken(values: taken, refusals: refusals)
    }

    private func message<Body: Message>(
        in body: [UInt8], encoding: IntakeEnvelope.Encoding
    ) throws(IntakeRejection) -> Body {
        let bytes = try inflated(body, encoding: encoding)
        do {
            return try Body(serializedBytes: bytes)
        } catch {
            throw .malformed("the body is not an OTLP protobuf message")
        }
    }

    private func inflated(
        _ body: [UInt8], encoding: IntakeEnvelope.Encoding
    ) throws(IntakeRejection) -> [UInt8] {
        guard body.count <= limits.maxBodyBytes else { throw .tooLarge(limit: limits.maxBodyBytes) }
        guard encoding == .gzip else { return body }
        do {
            return try Gzip.decompress(body, limit: limits.maxBodyBytes)
        } catch {
            switch error {
            case .malformed(let reason): throw .malformed(reason)
            case .tooLarge(let limit): throw .tooLarge(limit: limit)
            case .outOfMemory: throw IntakeRejection(status: 503, message: "there is no memory to inflate the body")
            }
        }
    }
}
