/// The rejection of a request: an HTTP status and a sentence. Only a 429 and a 503 are worth another try (OTLP
/// specification, "Retryable Response Codes").
package struct IntakeRejection: Error, Sendable, Equatable {
    package var status: Int
    package var message: String

    static func malformed(_ message: String) -> IntakeRejection {
        IntakeRejection(status: 400, message: message)
    }

    static let notProtobuf = malformed("the body is not an OTLP protobuf message")

    package static func tooLarge(limit: Int) -> IntakeRejection {
        IntakeRejection(
            status: 413, message: "the body has more than \(limit) bytes, before or after inflating; send it in parts")
    }

    /// The rejection of a body whose messages would take too much memory: few bytes can stand for many messages.
    static func tooManyMessages(limit: Int) -> IntakeRejection {
        IntakeRejection(
            status: 413, message: "the body would take more than \(limit) bytes of memory; send it in parts")
    }

    /// The rejection of a request for which there is no memory, because of the requests in work.
    package static let busy = IntakeRejection(
        status: 429, message: "the collector has no memory left for this request; send it again later")

    /// The rejection of a body that ends early. The connection is gone, so hardly any client reads it.
    package static let cutOff = malformed("the body ends early")

    static func unsupported(_ message: String) -> IntakeRejection {
        IntakeRejection(status: 415, message: message)
    }
}
