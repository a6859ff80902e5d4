import MartletStorage
import MartletTelemetry

/// The columns of dimensions. The schema, inserts, hours and readers are derived from them.
extension Dimension {
    /// The columns with their types. A kind has a second column for its telemetry, and a host has one for its port.
    var columns: [(name: String, type: String)] {
        switch self {
        case .kind: [(column, "String"), ("spans", "UInt8")]
        case .host: [(column, "String"), ("port", "Int64")]
        case .status: [(column, "Int64")]
        default: [(column, "String")]
        }
    }

    /// The dimensions of a sender after its service, in the order of the columns of points.
    static let ofPointSender = ofSender.filter { $0 != .service }
    /// The same in the order of the columns of `sender` and `detail`.
    static let ofSenderRow = [version] + ofPointSender.filter { $0 != .version }
    /// The dimensions of a point after its service.
    static let ofPoint = ofPointSender + ofRequest
}

extension [Dimension] {
    var columns: [(name: String, type: String)] { flatMap(\.columns) }

    /// The columns as lines of a table's columns.
    var lines: String { columns.map { "\($0.name) \($0.type)" }.joined(separator: "\n") }
}

extension [SenderText] {
    var lines: String { map { "\($0.column) String" }.joined(separator: "\n") }
}

extension SenderText {
    static let dimensions = identity.filter { text in Dimension.ofSender.contains { $0.column == text.column } }
}

extension TableRows {
    /// Adds the columns of the dimensions. For `nil`, all of them are empty.
    mutating func add(_ request: RequestDimensions?) {
        for dimension in Dimension.ofRequest {
            switch dimension {
            case .kind:
                text(request?.kind.rawValue)
                flag(request?.source == .spans)
            case .host:
                text(request?.host)
                number(Int64(request?.port ?? 0))
            case .status: number(Int64(request?.status ?? 0))
            default: text(request.flatMap { dimension.value(of: $0) })
            }
        }
    }

    mutating func add(_ dimensions: [Dimension], of resource: TelemetryResource) {
        for dimension in dimensions { text(dimension.value(of: resource)) }
    }

    /// Adds a sender's columns, from the one after `service` to `runtime`.
    mutating func add(_ resource: TelemetryResource) {
        add(Dimension.ofSenderRow, of: resource)
        text(resource.host)
        for one in SenderText.state { text(one.value(of: resource)) }
    }
}

extension RequestDimensions {
    /// Returns `nil` if the columns do not belong to a request.
    init?(_ row: inout RowReader) throws {
        guard let kind = RequestKind(rawValue: try row.text("kind")) else { return nil }
        let status = Int(try row.number("status", Int64.self))
        self.init(
            kind: kind, method: "", host: try row.text("host"), port: Int(try row.number("port", Int64.self)),
            endpoint: "", status: status == 0 ? nil : status, error: nil)
        source = try row.flag("spans") ? .spans : .metrics
        for dimension in Self.texts { dimension.set(try row.text(dimension.column).presence, of: &self) }
    }

    /// The dimensions whose only column is their text.
    private static let texts = Dimension.ofRequest.filter { ![.kind, .host, .status].contains($0) }
}

extension Dimension {
    /// Sets a dimension of a request from its text; `nil` for an absent value. Ignores dimensions that are not read as a text.
    fileprivate func set(_ value: String?, of request: inout RequestDimensions) {
        switch self {
        case .system: request.system = value
        case .method: request.method = value ?? ""
        case .endpoint: request.endpoint = value ?? ""
        case .error: request.error = value
        case .rule: request.rule = value
        default: break
        }
    }
}

extension TelemetryResource {
    /// Reads the columns of the dimensions of a sender.
    init(dimensions row: inout RowReader) throws {
        self.init(service: "", instance: "")
        for text in SenderText.dimensions { text.set(try row.text(text.column), of: &self) }
    }

    /// Reads all columns of a sender.
    ///
    /// - Parameter host: the name of the column for the sender's host.
    init(_ row: inout RowReader, host: String = "host") throws {
        try self.init(dimensions: &row)
        self.host = try row.text(host).presence
        for text in SenderText.state { text.set(try row.text(text.column), of: &self) }
    }
}

extension String {
    /// `nil` for the empty text, which represents an absent value.
    var presence: String? { isEmpty ? nil : self }
}
