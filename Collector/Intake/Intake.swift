import MartletOTLP
import MartletTelemetry

/// Turns the body of an OTLP request into values, or says why not. Pure, so it can be called from anywhere.
package struct Intake: Sendable {
    package var limits: IntakeLimits

    package init(limits: IntakeLimits = IntakeLimits()) {
        self.limits = limits
    }

    /// The body of `POST /v1/metrics`.
    package func metrics(
        _ body: consuming [UInt8], encoding: IntakeEnvelope.Encoding, format: IntakeFormat = .protobuf,
        reserve: Reservation = { _ in }
    ) throws(IntakeRejection) -> Taken<InstanceMetrics> {
        var weight = 0
        let request: OTLPExportMetricsServiceRequest = try message(
            in: body, .metricsRequest, encoding, format
        ) { bytes throws(IntakeRejection) in
            try reserve(bytes)
            weight = bytes
        }
        var refusals = Refusals()
        var taken: [InstanceMetrics] = []
        for part in request.resourceMetrics {
            var decoding = MetricsDecoding(limits: limits, refusals: refusals)
            let metrics = try decoding.decode(part) { bytes throws(IntakeRejection) in try reserve(weight + bytes) }
            if let metrics { taken.append(metrics) }
            refusals = decoding.refusals
        }
        return Taken(values: taken, refusals: refusals)
    }

    /// The body of `POST /v1/traces`.
    package func details(
        _ body: consuming [UInt8], encoding: IntakeEnvelope.Encoding, format: IntakeFormat = .protobuf,
        reserve: Reservation = { _ in }
    ) throws(IntakeRejection) -> Taken<DetailsBatch> {
        var request: OTLPExportTraceServiceRequest = try message(in: body, .tracesRequest, encoding, format, reserve)
        if format == .json { request.decodeHexIDs() }
        var refusals = Refusals()
        var taken: [DetailsBatch] = []
        for part in request.resourceSpans {
            var decoding = SpansDecoding(limits: limits, refusals: refusals)
            if let details = decoding.decode(part) { taken.append(details) }
            refusals = decoding.refusals
        }
        return Taken(values: taken, refusals: refusals)
    }
}
