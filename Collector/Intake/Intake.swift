import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf

/// Decodes the body of an OTLP request, or rejects it with a reason. The result depends only on the body and on the accepted
/// times, because only decoded attributes and resources are cached. Safe to use from any task.
package struct Intake: Sendable {
    package var limits: IntakeLimits
    /// Returns the times at which points and spans may end, when a body is decoded.
    package var times: @Sendable () -> AcceptedTimes = { .all }
    private let known = KnownAttributes()
    private let knownResources = KnownResources()

    package init(limits: IntakeLimits = IntakeLimits()) {
        self.limits = limits
    }

    /// Reads the body of `POST /v1/metrics`. If ``ProtobufReader`` finds the body unusual, SwiftProtobuf rewrites it, and it is
    /// read again.
    package func metrics(
        _ body: consuming [UInt8], encoding: IntakeEnvelope.Encoding, format: IntakeFormat = .protobuf,
        reserve: MemoryReservation = { _ in }
    ) throws(IntakeRejection) -> IntakeResult<InstanceMetrics> {
        var weight = 0
        var bytes = try bytes(of: body, .metricsRequest, encoding, format) { size throws(IntakeRejection) in
            try reserve(size)
            weight = size
        }
        func usual(_ bytes: consuming [UInt8], _ format: IntakeFormat) throws(IntakeRejection) -> [UInt8] {
            let message: OTLPExportMetricsServiceRequest = try decoded(bytes, .metricsRequest, format) {
                size throws(IntakeRejection) in try reserve(weight + size)
            }
            guard let usual: [UInt8] = try? message.serializedBytes() else { throw .notProtobuf }
            return usual
        }
        if format == .json { bytes = try usual(bytes, .json) }
        func reserveSketches(_ size: Int) throws(IntakeRejection) { try reserve(weight + size) }
        if let taken = try metrics(reading: bytes, reserve: reserveSketches) { return taken }
        bytes = try usual(bytes, .protobuf)
        guard let taken = try metrics(reading: bytes, reserve: reserveSketches) else { throw .notProtobuf }
        return taken
    }

    /// Reads the metrics of a message.
    ///
    /// - Parameter reserve: called with the number of bytes that all sketches take.
    /// - Returns: `nil` if the message is unusual.
    func metrics(
        reading bytes: [UInt8], reserve: MemoryReservation = { _ in }
    ) throws(IntakeRejection) -> IntakeResult<InstanceMetrics>? {
        do {
            return try read(bytes, reserve)
        } catch let rejection as IntakeRejection {
            throw rejection
        } catch {
            return nil
        }
    }

    private func read(_ bytes: [UInt8], _ reserve: MemoryReservation) throws -> IntakeResult<InstanceMetrics> {
        var taken = IntakeResult<InstanceMetrics>(values: [], refusals: Refusals())
        let limits = limitsNow
        let body = ProtobufReader(bytes)
        var reader = body
        while let field = try reader.next() {
            guard field.number == 1, case .bytes(let range) = field.value else { continue }
            var decoding = MetricsDecoding(limits: limits, known: known, refusals: taken.refusals)
            // So that the decoding has the only copy. Otherwise each resource would copy the senders of all earlier ones.
            taken.refusals = Refusals()
            let part = try EncodedResourceMetrics(range, of: body, knownResources)
            if let metrics = try decoding.decode(part, reserve: reserve) { taken.values.append(metrics) }
            taken.refusals = decoding.refusals
        }
        return taken
    }

    /// Reads the body of `POST /v1/traces`.
    package func details(
        _ body: consuming [UInt8], encoding: IntakeEnvelope.Encoding, format: IntakeFormat = .protobuf,
        reserve: MemoryReservation = { _ in }
    ) throws(IntakeRejection) -> IntakeResult<DetailsBatch> {
        var weight = 0
        let bytes = try bytes(of: body, .tracesRequest, encoding, format) { size throws(IntakeRejection) in
            try reserve(size)
            weight = size
        }
        var request: OTLPExportTraceServiceRequest = try decoded(bytes, .tracesRequest, format) {
            size throws(IntakeRejection) in try reserve(weight + size)
        }
        if format == .json { request.repairHexIDs() }
        var refusals = Refusals()
        var taken: [DetailsBatch] = []
        let limits = limitsNow
        for part in request.resourceSpans {
            var decoding = SpansDecoding(limits: limits, refusals: refusals)
            refusals = Refusals()
            if let details = decoding.decode(part) { taken.append(details) }
            refusals = decoding.refusals
        }
        return IntakeResult(values: taken, refusals: refusals)
    }
}

extension Intake {
    private var limitsNow: IntakeLimits {
        var limits = limits
        limits.times = times()
        return limits
    }

    /// Returns the inflated body. Throws if the body, or the messages built from it, exceed a limit.
    func bytes(
        of body: consuming [UInt8], _ shape: MessageShape, _ encoding: IntakeEnvelope.Encoding, _ format: IntakeFormat,
        _ reserve: MemoryReservation
    ) throws(IntakeRejection) -> [UInt8] {
        let bytes = try inflated(body, encoding, reserve)
        let weight = try weight(of: bytes, shape, format)
        try reserve(bytes.count + weight)
        return bytes
    }

    private func inflated(
        _ body: consuming [UInt8], _ encoding: IntakeEnvelope.Encoding, _ reserve: MemoryReservation
    ) throws(IntakeRejection) -> [UInt8] {
        guard body.count <= limits.maxBodyBytes else { throw .tooLarge(limit: limits.maxBodyBytes) }
        guard encoding == .gzip else { return body }
        let size: Int
        do {
            size = try Gzip.size(of: body, limit: limits.maxBodyBytes)
        } catch {
            throw IntakeRejection(error, tooLarge: .tooLarge(limit: limits.maxBodyBytes))
        }
        try reserve(body.count + size)
        do {
            return try Gzip.decompress(body, limit: size)
        } catch {
            throw IntakeRejection(
                error, tooLarge: .malformed("the gzip stream is damaged: it inflates to more than the size at its end"))
        }
    }

    private func weight(
        of bytes: [UInt8], _ shape: MessageShape, _ format: IntakeFormat
    ) throws(IntakeRejection) -> Int {
        guard bytes.count > limits.lightBodyBytes else { return bytes.count }
        switch format {
        case .protobuf: return try ProtobufWeight.of(bytes, as: shape, limit: limits.maxMessageBytes)
        case .json: return try JSONWeight.of(bytes, limit: limits.maxMessageBytes)
        }
    }

    /// Decodes a body. If a decoder refuses it, the body is decoded again from a copy with U+FFFD in its texts.
    ///
    /// - Parameter reserve: called with the number of bytes of the copy.
    private func decoded<Body: Message>(
        _ bytes: consuming [UInt8], _ shape: MessageShape, _ format: IntakeFormat, reserve: MemoryReservation
    ) throws(IntakeRejection) -> Body {
        if format == .json { bytes = JSONEnums.numbered(bytes, as: shape) }
        if let message: Body = try? Self.decoded(bytes, format) { return message }
        guard TextRepair.mayHelp(bytes, format) else { throw .notProtobuf }
        try reserve(TextRepair.capacity(for: bytes, limit: limits.maxBodyBytes))
        guard let repaired = TextRepair.repaired(bytes, format, as: shape, limit: limits.maxBodyBytes),
            let message: Body = try? Self.decoded(repaired, format)
        else { throw format == .protobuf ? .notProtobuf : .malformed("the body is not an OTLP JSON message") }
        return message
    }

    private static func decoded<Body: Message>(_ bytes: [UInt8], _ format: IntakeFormat) throws -> Body {
        switch format {
        case .protobuf: try Body(serializedBytes: bytes, options: .otlp)
        case .json: try Body(jsonUTF8Bytes: bytes, options: .otlp)
        }
    }
}

extension IntakeRejection {
    /// - Parameter tooLarge: the rejection of a body that inflates to more than its limit.
    fileprivate init(_ failure: Gzip.Failure, tooLarge: IntakeRejection) {
        switch failure {
        case .malformed(let reason): self = .malformed(reason)
        case .tooLarge: self = tooLarge
        case .outOfMemory:
            self.init(status: 503, message: "there is no memory to inflate the body; send it again later")
        }
    }
}

extension JSONDecodingOptions {
    /// Receivers must ignore fields that they do not know (OTLP specification, "JSON Protobuf Encoding").
    fileprivate static let otlp: JSONDecodingOptions = {
        var options = JSONDecodingOptions()
        options.ignoreUnknownFields = true
        return options
    }()
}

/// Sets the number of bytes of memory that a body takes from here on. Throws if there is too little memory.
package typealias MemoryReservation = (Int) throws(IntakeRejection) -> Void
