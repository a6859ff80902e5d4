import Foundation
import MartletIntake
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf

// The functions that libFuzzer calls: each body must be taken or refused. scripts/fuzz.sh links them.

/// The signal, format and encoding of an input, from its first byte.
private struct Kind {
    var isTraces: Bool
    var format: IntakeFormat
    var encoding: IntakeEnvelope.Encoding

    init(_ byte: UInt8) {
        isTraces = byte & 1 != 0
        format = byte & 2 != 0 ? .json : .protobuf
        encoding = byte & 4 != 0 ? .gzip : .identity
    }
}

private let intake: Intake = {
    var limits = IntakeLimits()
    // Every body is weighed, even a small one.
    limits.lightBodyBytes = 0
    return Intake(limits: limits)
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func takeIn(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let (kind, body) = (Kind(start[0]), Array(UnsafeBufferPointer(start: start + 1, count: count - 1)))
    do throws(IntakeRejection) {
        if kind.isTraces {
            _ = try intake.details(body, encoding: kind.encoding, format: kind.format)
        } else {
            _ = try intake.metrics(body, encoding: kind.encoding, format: kind.format)
        }
    } catch {
        guard (400..<500).contains(error.status) else { fatalError("\(error.status) \(error.message)") }
    }
    return 0
}

/// Writes real bodies as seeds into the directory that `MARTLET_FUZZ_SEEDS` names.
@_cdecl("LLVMFuzzerInitialize")
public func writeSeeds(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>>>
) -> CInt {
    guard let folder = ProcessInfo.processInfo.environment["MARTLET_FUZZ_SEEDS"] else { return 0 }
    do {
        for byte in UInt8(0)..<8 {
            let seed = try [byte] + body(Kind(byte))
            try Data(seed).write(to: URL(fileURLWithPath: folder).appendingPathComponent("seed-\(byte)"))
        }
    } catch {
        fatalError("no seeds: \(error)")
    }
    return 0
}

private func body(_ kind: Kind) throws -> [UInt8] {
    var body = try kind.isTraces ? traces.otlp() : metrics.otlp()
    if kind.format == .json {
        body =
            try kind.isTraces
            ? OTLPExportTraceServiceRequest(serializedBytes: body).jsonUTF8Bytes()
            : OTLPExportMetricsServiceRequest(serializedBytes: body).jsonUTF8Bytes()
    }
    return kind.encoding == .gzip ? try Gzip.compress(body) : body
}

private let resource = TelemetryResource(
    service: "checkout", version: "1.2", environment: "test", instance: "i-1", host: "web-1",
    captureMode: "automatic", agent: "martlet 0.1.0")

private let dimensions = RequestDimensions(
    kind: .client, method: "GET", host: "api.example.com", port: 443, endpoint: "/users/{id}", status: 503,
    error: "503")

private var metrics: MetricsBatch {
    var statistics = RequestStatistics()
    for seconds in [0.0625, 0.25, 3] {
        var phases = PhaseDurations()
        phases[.firstByte] = UInt64(seconds * 5e8)
        statistics.record(seconds: seconds, bytesSent: 7, bytesReceived: 2048, phases: phases)
    }
    return MetricsBatch(
        resource: resource, start: 1_790_000_000_000_000_000, end: 1_790_000_010_000_000_000,
        series: [dimensions: statistics], ledger: Ledger(captured: 3, waiting: 3))
}

private var traces: DetailsBatch {
    guard let trace = TraceID(high: 1, low: 2), let span = SpanID(3) else { fatalError("0 is no id") }
    var record = SpanRecord(
        traceID: trace, spanID: span, name: "GET", kind: .client, start: 1_790_000_000_000_000_000,
        durationNanoseconds: 250_000_000)
    record.request = dimensions
    record.url = "https://api.example.com/users/7"
    record.attributes = ["a": .string("text"), "b": .array([.integer(1), .double(2.5)])]
    record.links = [SpanLink(traceID: trace, spanID: span, attributes: ["c": .boolean(true)])]
    record.events = [SpanEvent(name: "event", time: 1_790_000_000_000_000_000, attributes: [:])]
    return DetailsBatch(resource: resource, details: [record])
}
