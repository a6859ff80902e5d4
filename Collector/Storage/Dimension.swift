import MartletTelemetry

/// A property that requests can be grouped and filtered by. The raw value is the name on the command line, in queries and in
/// reports.
package enum Dimension: String, Sendable, Hashable, CaseIterable {
    case service
    case environment
    case kind
    case system
    case method
    case host
    case endpoint
    case status
    case error
    case rule
    case version
    case instance
}

/// The table of dimensions. Parameters, filters, headings, the help of flags and ClickHouse's columns are made from it.
extension Dimension {
    /// The description of a dimension.
    private struct Entry {
        let origin: Origin
        /// The help text of the flag that filters by the dimension.
        let help: String
        var values = Values.texts
        /// Whether a request may have no value. A store then keeps `''`, or 0 for a status.
        var mayBeAbsent = false
        /// The plural of the name; `nil` if it is the name followed by an s.
        var plural: String?
    }

    /// The source of the value, either the sender or the request, and how to read it.
    private enum Origin {
        case sender(SenderText)
        case request((RequestDimensions) -> String?)
    }

    /// The kind of values that a filter accepts.
    package enum Values: Sendable {
        case texts
        /// The names of ``RequestKind``.
        case kinds
        /// ``StatusPattern``
        case statuses
    }

    private var entry: Entry {
        switch self {
        case .service:
            Entry(origin: .sender(SenderText(column, \.service)), help: "Only requests of this service.")
        case .environment:
            Entry(
                origin: .sender(SenderText(column, \.environment)),
                help: "Only requests of services in this environment, such as production.", mayBeAbsent: true)
        case .kind:
            Entry(
                origin: .request { $0.kind.rawValue },
                help: "Only requests of this kind: client (the service sends them) or server (it answers them).",
                values: .kinds)
        case .system:
            Entry(
                origin: .request { $0.system },
                help: "Only requests to this system, such as postgresql, redis, kafka or grpc.", mayBeAbsent: true)
        case .method:
            Entry(origin: .request { $0.method }, help: "Only requests with this method, such as POST.")
        case .host:
            Entry(
                origin: .request { $0.authority },
                help: "Only requests to this server, by its name with or without the port.")
        case .endpoint:
            Entry(
                origin: .request { $0.endpoint },
                help: "Only requests of this endpoint, by its template, such as /users/{id}.")
        case .status:
            Entry(
                origin: .request { $0.status.map(String.init) },
                help: "Only requests with this status, such as 404, or class of statuses, such as 5xx.",
                values: .statuses, mayBeAbsent: true, plural: "statuses")
        case .error:
            Entry(
                origin: .request { $0.error }, help: "Only requests with this error.type, such as timeout.",
                mayBeAbsent: true)
        case .rule:
            Entry(
                origin: .request { $0.rule },
                help: "Only requests that this rule of their service's agent changed, by its name.", mayBeAbsent: true)
        case .version:
            Entry(
                origin: .sender(SenderText(column, \.version)), help: "Only requests of this version of a service.",
                mayBeAbsent: true)
        case .instance:
            Entry(origin: .sender(SenderText(column, \.instance)), help: "Only requests of this instance of a service.")
        }
    }
}

extension Dimension {
    /// The dimensions that the sender decides, followed by those that each request decides.
    package static let ofSender = allCases.filter(\.isSenderAttribute)
    package static let ofRequest = allCases.filter { !$0.isSenderAttribute }

    /// Whether the sender decides the value for all of its requests.
    package var isSenderAttribute: Bool { senderText != nil }

    /// The sender's text that is the value; `nil` if each request decides the value.
    fileprivate var senderText: SenderText? {
        if case .sender(let text) = entry.origin { text } else { nil }
    }

    package var help: String { entry.help }

    package var values: Values { entry.values }

    package var mayBeAbsent: Bool { entry.mayBeAbsent }

    /// The word for several values, such as `endpoints`.
    package var plural: String { entry.plural ?? rawValue + "s" }

    /// The column of the value in the tables of both stores. The port of a host has a separate column.
    package var column: String { rawValue }

    /// Returns `nil` if the request has no value: for example, no response, no error, no rule, or a sender without a version.
    package func value(of dimensions: RequestDimensions, from resource: TelemetryResource) -> String? {
        switch entry.origin {
        case .sender(let text): text.value(of: resource)
        case .request(let value): value(dimensions)
        }
    }

    /// Returns `nil` if the sender has no value, or does not decide it.
    package func value(of resource: TelemetryResource) -> String? { senderText?.value(of: resource) }

    /// Returns `nil` if the request has no value, or if its sender decides the value.
    package func value(of dimensions: RequestDimensions) -> String? {
        if case .request(let value) = entry.origin { value(dimensions) } else { nil }
    }
}

/// A text property of a sender, and its column in the tables of both stores. The column has `''` if the text is absent.
package struct SenderText: Sendable {
    private enum Property {
        case required(WritableKeyPath<TelemetryResource, String> & Sendable)
        case optional(WritableKeyPath<TelemetryResource, String?> & Sendable)
    }

    package let column: String
    private let property: Property

    fileprivate init(_ column: String, _ property: WritableKeyPath<TelemetryResource, String> & Sendable) {
        (self.column, self.property) = (column, .required(property))
    }

    fileprivate init(_ column: String, _ property: WritableKeyPath<TelemetryResource, String?> & Sendable) {
        (self.column, self.property) = (column, .optional(property))
    }

    /// The texts that identify a sender: its dimensions and its host.
    package static let identity = Dimension.allCases.compactMap(\.senderText) + [SenderText("host", \.host)]
    /// The texts that may change while the sender lives.
    package static let state = [
        SenderText("capture_mode", \.captureMode), SenderText("capture_reason", \.captureReason),
        SenderText("agent", \.agent), SenderText("runtime", \.runtime),
    ]

    /// Returns `nil` if the sender does not have the text.
    package func value(of sender: TelemetryResource) -> String? {
        switch property {
        case .required(let text): sender[keyPath: text]
        case .optional(let text): sender[keyPath: text]
        }
    }

    /// - Parameter text: the text in the column.
    package func set(_ text: String, of sender: inout TelemetryResource) {
        switch property {
        case .required(let property): sender[keyPath: property] = text
        case .optional(let property): sender[keyPath: property] = text.isEmpty ? nil : text
        }
    }
}

extension RequestDimensions {
    /// Host and port as in a URL: `api.example.com:443`, `[::1]:8080`; only the host if the port is unknown.
    package var authority: String { Self.authority(host, port) }

    package static func authority(_ host: String, _ port: Int) -> String {
        guard port > 0 else { return host }
        return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// A query for the values of a dimension. Choices and spelling suggestions use it.
package struct ValuesQuery: Sendable, Equatable {
    package var dimension: Dimension
    /// The time in which the values occurred. A store may round it to whole days.
    package var window: TimeWindow
    package var filter: RequestFilter
    /// The largest number of values.
    package var limit: Int

    package init(_ dimension: Dimension, window: TimeWindow, filter: RequestFilter = RequestFilter(), limit: Int) {
        self.dimension = dimension
        self.window = window
        self.filter = filter
        self.limit = limit
    }
}

/// The values of a dimension, in byte order.
package struct ValuesAnswer: Sendable, Equatable {
    package var values: [String]
    /// Whether values were left out.
    package var isThereMore: Bool

    package init(values: [String], isThereMore: Bool) {
        self.values = values
        self.isThereMore = isThereMore
    }
}
