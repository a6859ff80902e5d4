/// Why a request is not taken: an HTTP status and a sentence. Only a 503 is worth another try.
package struct IntakeRejection: Error, Sendable, Equatable {
    package var status: Int
    package var message: String

    static func malformed(_ message: String) -> IntakeRejection {
        IntakeRejection(status: 400, message: message)
    }

    package static func tooLarge(limit: Int) -> IntakeRejection {
        IntakeRejection(status: 413, message: "the body has more than \(limit) bytes, inflated or not")
    }

    /// The connection went away; hardly anyone is there to read this.
    package static let cutOff = malformed("the body ends early")

    static func unsupported(_ message: String) -> IntakeRejection {
        IntakeRejection(status: 415, message: message)
    }
}
