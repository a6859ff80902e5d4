import Foundation
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

    /// Of a span, whose texts are cut where a point's would be refused. Instruments of before name a server only in the URL.
    init(kind: RequestKind, _ http: HTTPSpanAttributes, _ limits: IntakeLimits) {
        let cut = { (text: String) in text.cut(toBytes: limits.maxAttributeBytes) }
        let url = http.host == nil ? http.url.flatMap(URLComponents.init(string:)) : nil
        let port = http.port ?? url?.port ?? (url?.scheme == "https" ? 443 : url == nil ? 0 : 80)
        self.init(
            kind: kind, method: cut(http.method), host: cut(http.host ?? url?.host ?? ""),
            port: (0...65535).contains(port) ? port : 0, endpoint: cut(http.route ?? Self.unknownEndpoint),
            status: http.status.flatMap { (100...999).contains($0) ? $0 : nil }, error: http.errorType.map(cut))
    }

    func fits(_ limits: IntakeLimits) -> Bool {
        [method, host, endpoint, error].allSatisfy { ($0?.utf8.count ?? 0) <= limits.maxAttributeBytes }
    }
}
