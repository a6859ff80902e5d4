import MartletOTLP
import MartletTelemetry

/// The attributes of a span that describe a remote procedure call, under their stable names (semantic conventions, "RPC
/// Spans") or the earlier ones.
struct RPCSpanAttributes: Sendable {
    /// The service with its package, and the method: `shop.Orders/Place`.
    let method: String
    /// `nil` where the instrument gives none, or one that is not gRPC's.
    let status: CallStatus?
    private let system: String

    /// `nil` if the span is no remote procedure call.
    ///
    /// - Parameter value: looks an attribute up by its name.
    init?(value: (String) -> SpanAttribute?) {
        func text(_ name: String) -> String? {
            guard case .string(let text)? = value(name), !text.isEmpty else { return nil }
            return text
        }
        guard let system = text("rpc.system.name") ?? text("rpc.system"), let method = text("rpc.method") else {
            return nil
        }
        self.system = system
        // Before the stable names, the service was an attribute of its own.
        self.method = text("rpc.service").map { "\($0)/\(method)" } ?? method
        if case .integer(let number)? = value("rpc.grpc.status_code") {
            status = CallStatus(number: number)
        } else {
            status = text("rpc.response.status_code").flatMap { CallStatus(rawValue: $0.uppercased()) }
        }
    }

    /// The method of HTTP ("gRPC over HTTP2", Requests). Other systems may do without HTTP.
    fileprivate var httpMethod: String { system == "grpc" ? "POST" : RequestDimensions.otherMethodOrError }
}

extension HTTPSpanAttributes {
    /// The attributes of the request that carries a call. `nil` if the span says that it is not to be counted.
    init?(_ kind: RequestKind, of call: RPCSpanAttributes, value: (String) -> SpanAttribute?) {
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
