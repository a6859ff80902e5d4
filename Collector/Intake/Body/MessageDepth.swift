import MartletOTLP
import SwiftProtobuf

/// The number of messages around a message in an `ExportMetricsServiceRequest`.
enum MessageDepth: Int {
    case resource = 2
    /// A metric or a scope.
    case metric = 3
    /// An attribute of a point.
    case attribute = 6
}

extension ProtobufReader {
    /// Returns the message at `range`, decoded with the depth limit that it has within the body.
    ///
    /// - Throws: if the bytes are not a message of this type.
    func message<Part: Message>(in range: Range<Int>, depth: MessageDepth) throws(UncommonForm) -> Part {
        var options = BinaryDecodingOptions.otlp
        options.messageDepthLimit -= depth.rawValue
        guard let part = try? Part(serializedBytes: Array(bytes[range]), options: options) else { throw UncommonForm() }
        return part
    }
}

extension BinaryDecodingOptions {
    static let otlp: BinaryDecodingOptions = {
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        return options
    }()
}
