import Foundation
import MartletIntake
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletIntake

/// Bodies whose messages would need too much memory are refused before any message is built.
@Suite struct MessageWeightTests {
    private func status(_ body: [UInt8], _ format: IntakeFormat = .protobuf) -> Int? {
        var limits = IntakeLimits()
        limits.maxMessageBytes = 6 * 1024 * 1024
        var statuses: [Int] = []
        for gzip in [false, true] {
            do throws(IntakeRejection) {
                let bytes = gzip ? (try? Gzip.compress(body)) ?? [] : body
                _ = try Intake(limits: limits).metrics(bytes, encoding: gzip ? .gzip : .identity, format: format)
                statuses.append(200)
            } catch {
                statuses.append(error.status)
            }
        }
        return statuses[0] == statuses[1] ? statuses[0] : nil
    }

    /// Returns `payload` as field `number`, which is below 16.
    private func field(_ number: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var length = payload.count
        var bytes: [UInt8] = [number << 3 | 2]
        while length > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        return bytes + [UInt8(length)] + payload
    }

    private func many(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
        Array(repeatElement(bytes, count: count).joined())
    }

    @Test func tooManyEmptyResourcesAre413() {
        #expect(status(many([0x0a, 0x00], 200_000)) == 413)
    }

    @Test func tooManyAttributesAre413() {
        let resource = field(1, field(1, many([0x0a, 0x00], 200_000)))
        #expect(status(resource) == 413)
        let scope = field(1, field(2, field(1, many([0x1a, 0x00], 200_000))))
        #expect(status(scope) == 413)
    }

    @Test func tooManyPointsAre413() {
        for (data, point) in [(5, 1), (7, 1), (9, 1), (10, 1), (11, 1)] as [(UInt8, UInt8)] {
            let metric = field(data, many([point << 3 | 2, 0x00], 200_000))
            #expect(status(field(1, field(2, field(2, metric)))) == 413)
        }
    }

    @Test func tooManyBucketsAre413() {
        let packed = field(8, field(2, [UInt8](repeating: 0, count: 600_000)))
        let single = field(8, many([0x10, 0x00], 600_000))
        for buckets in [packed, single] {
            #expect(status(field(1, field(2, field(2, field(10, field(1, buckets)))))) == 413)
        }
    }

    @Test func tooManyArrayElementsAre413() {
        let array = field(5, many([0x0a, 0x00], 200_000))
        #expect(status(field(1, field(1, field(1, field(2, array))))) == 413)
    }

    @Test func tooManyJSONObjectsAndNumbersAre413() {
        let objects = #"{"resourceMetrics":[{}"# + String(repeating: ",{}", count: 200_000) + "]}"
        #expect(status(Array(objects.utf8), .json) == 413)
        let numbers = #"{"x":[0"# + String(repeating: ",0", count: 600_000) + "]}"
        #expect(status(Array(numbers.utf8), .json) == 413)
    }

    @Test(arguments: [#""\\""#, #""\"""#, #""\\\"""#]) func objectsAfterEscapedTextAreWeighed(text: String) {
        let objects = #"{"x":\#(text),"resourceMetrics":[{}"# + String(repeating: ",{}", count: 200_000) + "]}"
        #expect(status(Array(objects.utf8), .json) == 413)
    }

    /// A decoder copies the value so far at each repetition.
    @Test func repeatedValueIs400() {
        let array = field(5, [0x0a, 0x00])
        #expect(status(field(1, field(1, field(1, field(2, many(array, 10_000)))))) == 400)
        #expect(status(field(1, field(2, field(2, many(field(7, [0x0a, 0x00]), 10_000))))) == 400)
        #expect(status(field(1, field(1, field(1, many(field(2, array), 10_000))))) == 400)
    }

    @Test func deepNestingIs400() {
        var value: [UInt8] = []
        for _ in 0..<5000 { value = field(5, field(1, value)) }
        #expect(status(field(1, field(1, field(1, field(2, value))))) == 400)
        let filler = #"{"y":""# + String(repeating: " ", count: 20_000) + #"","x":"#
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            let nested = String(repeating: open, count: 5000) + "0" + String(repeating: close, count: 5000)
            #expect(status(Array((filler + nested + "}").utf8), .json) == 400)
        }
    }

    @Test func fullBatchOfAnOpenTelemetryCollectorIsTaken() throws {
        let attributes = (0..<20).map { index in
            var attribute = OTLPKeyValue()
            attribute.key = "attribute.number.\(index)"
            attribute.value.stringValue = "a value of some length, number \(index)"
            return attribute
        }
        var point = OTLPExponentialHistogramDataPoint()
        point.attributes = attributes
        point.positive.bucketCounts = Array(repeating: 1, count: 160)
        var request = OTLPExportMetricsServiceRequest()
        request.resourceMetrics = [.with { $0.scopeMetrics = [.with { $0.metrics = [.init()] }] }]
        request.resourceMetrics[0].scopeMetrics[0].metrics[0].exponentialHistogram.dataPoints = Array(
            repeating: point, count: 8192)
        let limit = IntakeLimits().maxMessageBytes
        #expect(try ProtobufWeight.of(try request.serializedBytes(), as: .metricsRequest, limit: limit) < limit)
        #expect(try JSONWeight.of(try request.jsonUTF8Bytes(), limit: limit) < limit)
    }

    @Test func streamLongerThanDeclaredIs400() throws {
        var stream = try Gzip.compress([UInt8](repeating: 0, count: 1_000_000))
        stream.replaceSubrange(stream.count - 4..<stream.count, with: [1, 0, 0, 0])
        let rejection = #expect(throws: IntakeRejection.self) { try Intake().metrics(stream, encoding: .gzip) }
        #expect(rejection?.status == 400)
    }

    /// Compares the weighed messages and the repaired texts with the protocol's files.
    @Test func everyProtocolFieldIsWeighed() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/MartletOTLP/Protos").standardized
        let text = try ["common", "metrics", "trace", "service"].map {
            try String(contentsOf: folder.appendingPathComponent("\($0).proto"), encoding: .utf8)
        }.joined()
        let shapes: [String: MessageShape] = [
            "ExportMetricsServiceRequest": .metricsRequest, "ResourceMetrics": .resourceMetrics,
            "ScopeMetrics": .scopeMetrics, "Metric": .metric, "Gauge": .gauge, "Sum": .sum, "Histogram": .histogram,
            "ExponentialHistogram": .exponentialHistogram, "Summary": .summary, "NumberDataPoint": .numberPoint,
            "HistogramDataPoint": .histogramPoint, "ExponentialHistogramDataPoint": .exponentialPoint,
            "SummaryDataPoint": .summaryPoint, "Buckets": .buckets, "ExportTraceServiceRequest": .tracesRequest,
            "ResourceSpans": .resourceSpans, "ScopeSpans": .scopeSpans, "Span": .span, "Event": .event, "Link": .link,
            "Resource": .resource, "KeyValue": .keyValue, "AnyValue": .anyValue, "ArrayValue": .array,
            "KeyValueList": .keyValueList, "InstrumentationScope": .scope, "Status": .status,
        ]
        var around: [String] = []
        var found = 0
        for line in text.split(separator: "\n") {
            let words = line.split { " ={;".contains($0) }.map(String.init)
            if ["message", "oneof", "enum"].contains(words.first) {
                around.append(words[0] == "oneof" ? around.last ?? "" : words[1])
            }
            if words.first == "}" { around.removeLast() }
            let isRepeated = words.first == "repeated"
            let parts = isRepeated ? Array(words.dropFirst()) : words
            guard parts.count == 3, let number = Int(parts[2]), let child = parts[0].split(separator: ".").last,
                let parent = shapes[around.last ?? ""]
            else { continue }
            #expect(parent.texts.contains(number) == (child == "string"), "\(line)")
            guard let shape = shapes[String(child)] else { continue }
            found += 1
            let message = parent.child(number)
            #expect(message?.shape == shape, "\(line)")
            #expect((message?.role == .element) == isRepeated, "\(line)")
        }
        #expect(found > 30)
    }
}
