import SwiftProtobuf

extension RPCStatus {
    /// Returns the sentence in the body of an OTLP/HTTP error; empty if the body is not a Status message.
    package static func message(inBody bytes: [UInt8]) -> String {
        (try? RPCStatus(serializedBytes: bytes).message) ?? ""
    }
}
