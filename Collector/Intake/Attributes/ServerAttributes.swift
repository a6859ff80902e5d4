import MartletOTLP
import MartletTelemetry

/// The server of a request, from a point's attributes with stable or earlier names ("HTTP semantic convention stability
/// migration").
struct ServerAttributes {
    let host: String?
    private(set) var port: Int?

    init(kind: RequestKind, _ attributes: [OTLPKeyValue]) {
        // Before the stable names, a client called the server its peer.
        let side = kind == .client ? "net.peer" : "net.host"
        let text =
            attributes.text(AttributeName.serverAddress) ?? attributes.text("\(side).name")
            ?? attributes.text("http.host")
        let name = text.map(ServerName.init)
        host = name?.host
        port = attributes.integer(AttributeName.serverPort) ?? attributes.integer("\(side).port") ?? name?.port
        if port == nil, host != nil { port = Self.ports[attributes.text("http.scheme") ?? ""] }
        port = port.flatMap { (0...65535).contains($0) ? $0 : nil }
    }

    private static let ports = ["http": 80, "https": 443]
}
