import SwiftProtobuf

extension RPCStatus {
    /// The sentence in the body of an OTLP/HTTP error; empty when the body is no such message.
    package static func message(inBody bytes: [UInt8]) -> String {
        (try? RPCStatus(serializedBytes: bytes).message) ?? ""
    }
}
