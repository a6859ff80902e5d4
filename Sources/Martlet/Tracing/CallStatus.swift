import MartletTelemetry

/// A status of a remote procedure call: gRPC's codes in the order of their numbers (grpc.io, "Status Codes"). Connect has the
/// same names in lower case.
enum CallStatus: String, CaseIterable, Sendable {
    case ok = "OK"
    case cancelled = "CANCELLED"
    case unknown = "UNKNOWN"
    case invalidArgument = "INVALID_ARGUMENT"
    case deadlineExceeded = "DEADLINE_EXCEEDED"
    case notFound = "NOT_FOUND"
    case alreadyExists = "ALREADY_EXISTS"
    case permissionDenied = "PERMISSION_DENIED"
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    case failedPrecondition = "FAILED_PRECONDITION"
    case aborted = "ABORTED"
    case outOfRange = "OUT_OF_RANGE"
    case unimplemented = "UNIMPLEMENTED"
    case internalError = "INTERNAL"
    case unavailable = "UNAVAILABLE"
    case dataLoss = "DATA_LOSS"
    case unauthenticated = "UNAUTHENTICATED"

    init?(number: Int64) {
        guard Self.allCases.indices.contains(Int(clamping: number)) else { return nil }
        self = Self.allCases[Int(clamping: number)]
    }

    /// Returns the attribute `error.type`; `nil` where the status is no failure (semantic conventions, "gRPC"). A call that
    /// its caller cancelled is no failure on either side, as a request of HTTP is none.
    func error(for kind: RequestKind) -> String? {
        switch self {
        case .ok: nil
        case .cancelled: RequestOutcome.cancelledError
        case .unknown, .deadlineExceeded, .unimplemented, .internalError, .unavailable, .dataLoss: rawValue
        case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .resourceExhausted, .failedPrecondition,
            .aborted, .outOfRange, .unauthenticated:
            kind == .client ? rawValue : nil
        }
    }
}
