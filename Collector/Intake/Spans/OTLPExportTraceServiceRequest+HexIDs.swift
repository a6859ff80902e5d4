import Foundation
import MartletOTLP

extension OTLPExportTraceServiceRequest {
    /// Corrects the ids of a message that was decoded from JSON: OTLP writes them as hexadecimal digits, which a protobuf
    /// decoder takes for base64 (OTLP specification, "JSON Protobuf Encoding").
    mutating func repairHexIDs() {
        for resource in resourceSpans.indices {
            for scope in resourceSpans[resource].scopeSpans.indices {
                for span in resourceSpans[resource].scopeSpans[scope].spans.indices {
                    resourceSpans[resource].scopeSpans[scope].spans[span].repairHexIDs()
                }
            }
        }
    }
}

extension OTLPSpan {
    fileprivate mutating func repairHexIDs() {
        traceID = traceID.hexDecoded
        spanID = spanID.hexDecoded
        parentSpanID = parentSpanID.hexDecoded
        for link in links.indices {
            links[link].traceID = links[link].traceID.hexDecoded
            links[link].spanID = links[link].spanID.hexDecoded
        }
    }
}

extension Data {
    /// Stands for an id with other characters: one byte long, so it is refused as an id.
    private static let noID = Data([0])

    /// The bytes behind hexadecimal digits that were decoded as base64. Encoding the bytes again gives the digits back, an even
    /// number of them.
    fileprivate var hexDecoded: Data {
        let digits = Array(base64EncodedString().lowercased().utf8)
        var bytes = Data(capacity: digits.count / 2)
        for pair in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt64(hexDigits: digits[pair..<pair + 2]) else { return Self.noID }
            bytes.append(UInt8(byte))
        }
        return bytes
    }
}
