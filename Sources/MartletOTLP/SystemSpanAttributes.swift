import MartletTelemetry

/// The attributes of a span that describe a call of a database or a message broker, with their stable names or earlier ones
/// (semantic conventions, "Database Spans" and "Messaging Spans").
package struct SystemSpanAttributes: Sendable, Equatable {
    /// ``RequestConventions/database`` or ``RequestConventions/messaging``.
    package let conventions: RequestConventions
    package let system: String
    /// Such as `SELECT` or `send`; `_OTHER` if it is unknown.
    package let operation: String
    /// The query's summary or shape, or the destination. It has no value of a statement, and at most
    /// ``StatementShape/maxLength`` bytes.
    package let endpoint: String
    /// The server's name or address; `nil` if it is unknown.
    package let host: String?
    package let port: Int?
    /// The attribute `error.type`.
    private let errorType: String?
    /// The database's code of a response. That of a success has a meaning, too.
    private let status: String?

    /// `nil` if the span is no such call, or says that it must not be counted. A span that also has the attributes of an HTTP
    /// request is a call of the system.
    ///
    /// - Parameter value: looks an attribute up by its name.
    package init?(_ kind: SpanRecord.Kind, value: (String) -> SpanAttribute?) {
        guard kind == .client || kind == .producer, value(AttributeName.isCounted) != .boolean(false) else {
            return nil
        }
        if kind == .client, let system = SpanValue.text(AttributeName.databaseSystem, "db.system", value) {
            self.init(database: system, value)
        } else if let system = SpanValue.text(AttributeName.messagingSystem, nil, value) {
            self.init(broker: system, kind, value)
        } else {
            return nil
        }
    }

    private init(database system: String, _ value: (String) -> SpanAttribute?) {
        conventions = .database
        self.system = Self.name(system)
        let summary = SpanValue.text(AttributeName.databaseSummary, nil, value)
            .map { StatementShape.summary($0, system: system) }
            .flatMap { $0.isEmpty ? nil : $0 }
        let collection = Self.collection(value)
        let named = Self.operation(value, system) ?? summary?.firstWord
        let isNamed = named != nil && (summary != nil || collection != nil)
        let shape = isNamed ? nil : Self.shape(value, system)
        let operation = named ?? shape?.operation
        self.operation = operation ?? RequestDimensions.otherMethodOrError
        let target = collection.map { Self.name([operation, $0].compactMap { $0 }.joined(separator: " ")) }
        endpoint = summary ?? target ?? shape?.text ?? operation ?? RequestDimensions.unknownEndpoint
        (host, port) = Self.server(value)
        errorType = SpanValue.text(AttributeName.errorType, nil, value).map(Self.name)
        status = Self.status(value)
    }

    private init(broker system: String, _ kind: SpanRecord.Kind, _ value: (String) -> SpanAttribute?) {
        conventions = .messaging
        self.system = Self.name(system)
        let operation =
            SpanValue.text(AttributeName.messagingOperation, "messaging.operation.type", value)
            ?? SpanValue.text("messaging.operation", nil, value)
        self.operation =
            operation.map(Self.name) ?? (kind == .producer ? "send" : RequestDimensions.otherMethodOrError)
        endpoint = Self.name(Self.destination(value) ?? RequestDimensions.unknownEndpoint)
        (host, port) = Self.server(value)
        errorType = SpanValue.text(AttributeName.errorType, nil, value).map(Self.name)
        status = nil
    }

    /// Returns the attribute `error.type` of the call; `nil` for a success.
    ///
    /// - Parameters:
    ///   - isError: whether the span's status is an error.
    ///   - exception: the type of a recorded exception.
    package func error(isError: Bool, exception: String?) -> String? {
        errorType ?? (isError ? status : nil) ?? exception
            ?? (isError ? RequestDimensions.otherMethodOrError : nil)
    }

    /// Returns whether ``SpanRecord/request`` of such a call already holds the attribute.
    package static func covers(_ name: String) -> Bool { names.contains(name) }

    private static let names: Set<String> = [
        AttributeName.databaseSystem, "db.system", AttributeName.databaseOperation, "db.operation",
        AttributeName.databaseSummary, AttributeName.messagingSystem, AttributeName.messagingOperation,
        AttributeName.messagingTemplate, AttributeName.serverAddress, AttributeName.serverPort, "net.peer.name",
        "net.peer.port", AttributeName.errorType,
    ]
}

extension SystemSpanAttributes {
    private static let collectionNames = [
        AttributeName.databaseCollection, "db.sql.table", "db.mongodb.collection", "db.cassandra.table",
    ]

    /// The names of a server's address and its port, in the order in which they are looked for.
    private static let servers = [
        (AttributeName.serverAddress, AttributeName.serverPort), ("net.peer.name", "net.peer.port"),
        ("net.peer.ip", "net.peer.port"), ("net.sock.peer.addr", "net.sock.peer.port"),
        (AttributeName.peerAddress, AttributeName.peerPort),
    ]

    /// Without the earlier `messaging.temp_destination`, which instruments of RabbitMQ for Python set for every message.
    private static let temporaryNames = ["messaging.destination.temporary", "messaging.destination.anonymous"]

    private static func server(_ value: (String) -> SpanAttribute?) -> (host: String?, port: Int?) {
        for (address, port) in servers {
            guard let host = SpanValue.text(address, nil, value) else { continue }
            return (name(host), SpanValue.integer(port, nil, value))
        }
        return (nil, nil)
    }

    private static func collection(_ value: (String) -> SpanAttribute?) -> String? {
        for name in collectionNames {
            if let collection = SpanValue.text(name, nil, value) { return collection }
        }
        return nil
    }

    private static func shape(_ value: (String) -> SpanAttribute?, _ system: String) -> StatementShape? {
        SpanValue.text(AttributeName.databaseStatement, "db.statement", value)
            .flatMap { StatementShape($0, system: system) }
    }

    /// Returns the operation as the instrument names it. Of a statement, only its first keyword.
    private static func operation(_ value: (String) -> SpanAttribute?, _ system: String) -> String? {
        SpanValue.text(AttributeName.databaseOperation, "db.operation", value)
            .flatMap { StatementShape.operation($0, system: system) }
    }

    private static func status(_ value: (String) -> SpanAttribute?) -> String? {
        if case .integer(let number)? = value(AttributeName.databaseStatus) { return String(number) }
        return SpanValue.text(AttributeName.databaseStatus, nil, value).map(name)
    }

    /// Returns the name of a queue or topic; `nil` for one that exists for only one process or connection.
    private static func destination(_ value: (String) -> SpanAttribute?) -> String? {
        if let template = SpanValue.text(AttributeName.messagingTemplate, nil, value) { return template }
        let isTemporary = temporaryNames.contains { value($0) == .boolean(true) }
        return isTemporary ? nil : SpanValue.text(AttributeName.messagingDestination, "messaging.destination", value)
    }

    private static func name(_ text: String) -> String { text.cut(toBytes: StatementShape.maxLength) }
}

extension String {
    fileprivate var firstWord: String? { split(separator: " ", maxSplits: 1).first.map(String.init) }
}
