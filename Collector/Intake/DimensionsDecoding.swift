import MartletOTLP
import MartletTelemetry

extension RequestDimensions {
    /// Stands for the endpoint of a sender that names none, as stable semantic conventions allow a client.
    static let unknownEndpoint = "{unknown}"

    init(kind: RequestKind, attributes: [OTLPKeyValue]) {
        let endpoint = kind == .client ? AttributeName.urlTemplate : AttributeName.route
        let port = attributes.integer(AttributeName.serverPort) ?? 0
        self.init(
            kind: kind,
            method: attributes.text(AttributeName.method) ?? "_OTHER",
            host: attributes.text(AttributeName.serverAddress) ?? "",
            port: (0...65535).contains(port) ? port : 0,
            endpoint: attributes.text(endpoint) ?? Self.unknownEndpoint,
            status: attributes.integer(AttributeName.status).flatMap { (100...999).contains($0) ? $0 : nil },
            error: attributes.text(AttributeName.errorType))
    }

    func fits(_ limits: IntakeLimits) -> Bool {
        [method, host, endpoint, error].allSatisfy { ($0?.utf8.count ?? 0) <= limits.maxAttributeBytes }
    }
}
