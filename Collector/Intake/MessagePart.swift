import MartletOTLP
import SwiftProtobuf

/// How many messages there are around a message in an `ExportMetricsServiceRequest`.
enum MessageDepth: Int {
    case resource = 2
    /// Or a scope.
    case metric = 3
    /// Of a point.
    case attribute = 6
}

extension ProtobufReader {
    /// The message that stands there, decoded as it would be with the body around it.
    ///
    /// - Throws: for what is no such message.
    func message<Part: Message>(in range: Range<Int>, depth: MessageDepth) throws(Unusual) -> Part {
        var options = BinaryDecodingOptions.otlp
        options.messageDepthLimit -= depth.rawValue
        guard let part = try? Part(serializedBytes: Array(bytes[range]), options: options) else { throw Unusual() }
        return part
    }
}
