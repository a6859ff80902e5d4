import MartletOTLP
import MartletTelemetry

/// The server that a request went to, as a point's attributes have it, stable or of before ("HTTP semantic convention
/// stability migration").
struct ServerAttributes {
    private(set) var host: String?
    private(set) var port: Int?

    init(kind: RequestKind, _ attributes: [OTLPKeyValue]) {
        // A client called the server its peer.
        let side = kind == .client ? "net.peer" : "net.host"
        host = attributes.text(AttributeName.serverAddress) ?? attributes.text("\(side).name")
        port = attributes.integer(AttributeName.serverPort) ?? attributes.integer("\(side).port")
        if host == nil, let header = attributes.text("http.host") { takeHost(header) }
        if port == nil, host != nil { port = Self.ports[attributes.text("http.scheme") ?? ""] }
        port = port.flatMap { (0...65535).contains($0) ? $0 : nil }
    }

    private static let ports = ["http": 80, "https": 443]

    /// `example.com`, `example.com:8080`, `[::1]:8080`
    private mutating func takeHost(_ header: String) {
        let bracket = header.lastIndex(of: "]")
        let colon = header.lastIndex(of: ":").flatMap { colon in bracket.map { colon > $0 } ?? true ? colon : nil }
        let name = header[..<(colon ?? header.endIndex)]
        host = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : String(name)
        port = port ?? colon.flatMap { Int(header[header.index(after: $0)...]) }
    }
}
