import Foundation
import MartletTelemetry

extension RequestDetail {
    init(_ request: CapturedRequest, dimensions: RequestDimensions, traceIDLow: UInt64) {
        let traceID = [UInt64.random(in: .min ... .max), traceIDLow].flatMap(\.bigEndianBytes)
        self.init(
            dimensions: dimensions, traceID: traceID, spanID: UInt64.random(in: 1 ... .max).bigEndianBytes,
            start: request.start, durationNanoseconds: request.durationNanoseconds,
            url: Self.withoutSecrets(request.url), bytesSent: request.bytesSent, bytesReceived: request.bytesReceived,
            message: request.message.map { Self.cut($0, to: MartletLimits.messageLength) })
    }

    /// Scheme, host, port and path. User, password, query and fragment may be secrets and stay where they are.
    static func withoutSecrets(_ url: URL) -> String {
        let port = url.port.map { ":\($0)" } ?? ""
        let host = url.host(percentEncoded: true) ?? ""
        let path = url.path(percentEncoded: true)
        return cut("\(url.scheme ?? "http")://\(host)\(port)\(path)", to: MartletLimits.urlLength)
    }

    private static func cut(_ text: String, to length: Int) -> String {
        text.utf8.count <= length ? text : String(decoding: text.utf8.prefix(length), as: UTF8.self)
    }
}

extension UInt64 {
    fileprivate var bigEndianBytes: [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: self >> UInt64($0 * 8)) }
    }
}
