import MartletTelemetry

/// The attributes of a span that describe a remote procedure call, with their stable names (semantic conventions, "RPC
/// Spans") or their earlier ones.
package struct RPCSpanAttributes: Sendable {
    /// The service with its package, and the method: `shop.Orders/Place`.
    package let method: String
    /// `nil` if the instrument gives none, or one that is not gRPC's.
    package let status: CallStatus?
    /// `rpc.system.name`, such as `grpc`.
    package let system: String

    /// `nil` if the span is no remote procedure call.
    ///
    /// - Parameter value: looks up an attribute by name.
    package init?(value: (String) -> SpanAttribute?) {
        func text(_ name: String) -> String? {
            guard case .string(let text)? = value(name), !text.isEmpty else { return nil }
            return text
        }
        guard let system = text(AttributeName.rpcSystem) ?? text("rpc.system"), let method = text("rpc.method") else {
            return nil
        }
        self.system = system
        // Before the stable names, the service was a separate attribute.
        self.method = text("rpc.service").map { "\($0)/\(method)" } ?? method
        if case .integer(let number)? = value("rpc.grpc.status_code") {
            status = CallStatus(number: number)
        } else {
            status = text("rpc.response.status_code").flatMap { CallStatus(rawValue: $0.uppercased()) }
        }
    }

    /// The HTTP method ("gRPC over HTTP2", Requests). Other systems may not use HTTP.
    package var httpMethod: String { system == "grpc" ? "POST" : RequestDimensions.otherMethodOrError }
}

extension HTTPSpanAttributes {
    /// The attributes of the HTTP request of a call. `nil` if the span says that it must not be counted.
    package init?(_ kind: RequestKind, of call: RPCSpanAttributes, value: (String) -> SpanAttribute?) {
        self.init(kind) { name in
            switch name {
            case AttributeName.method: .string(call.httpMethod)
            case AttributeName.urlPath: .string("/\(call.method)")
            case AttributeName.urlTemplate, AttributeName.route: .string(call.method)
            default: value(name)
            }
        }
    }
}

/// A status of a remote procedure call: gRPC's codes in the order of their numbers (grpc.io, "Status Codes"). Connect has the
/// same names in lower case.
package enum CallStatus: String, CaseIterable, Sendable {
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

    package init?(number: Int64) {
        guard Self.allCases.indices.contains(Int(clamping: number)) else { return nil }
        self = Self.allCases[Int(clamping: number)]
    }

    /// Returns the attribute `error.type`; `nil` if the status is not a failure (semantic conventions, "gRPC"). A call
    /// that its caller cancelled is not a failure on either side, like a cancelled HTTP request.
    package func error(for kind: RequestKind) -> String? {
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
