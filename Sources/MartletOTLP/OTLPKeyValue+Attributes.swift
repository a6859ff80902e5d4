import MartletTelemetry

extension OTLPKeyValue {
    package init(_ key: String, _ value: String) {
        self.init()
        self.key = key
        self.value.stringValue = value
    }

    package init(_ key: String, _ value: Int64) {
        self.init()
        self.key = key
        self.value.intValue = value
    }

    init(_ key: String, _ value: SpanAttribute) {
        self.init()
        self.key = key
        self.value = OTLPAnyValue(value)
    }
}

extension OTLPAnyValue {
    init(_ attribute: SpanAttribute) {
        self.init()
        switch attribute {
        case .string(let text): stringValue = text
        case .integer(let number): intValue = number
        case .double(let number): doubleValue = number
        case .boolean(let value): boolValue = value
        case .array(let elements): arrayValue.values = elements.map(OTLPAnyValue.init)
        }
    }
}

extension OTLPResource {
    package init(_ resource: TelemetryResource) {
        self.init()
        attributes = [OTLPKeyValue(AttributeName.serviceName, resource.service)]
        let optional: [(String, String?)] = [
            (AttributeName.serviceVersion, resource.version), (AttributeName.environment, resource.environment),
            (AttributeName.hostName, resource.host), (AttributeName.captureMode, resource.captureMode),
            (AttributeName.captureReason, resource.captureReason),
        ]
        for case (let name, let value?) in optional { attributes.append(OTLPKeyValue(name, value)) }
        if let rules = resource.rules { attributes.append(OTLPKeyValue(AttributeName.rules, Int64(rules))) }
        if let id = resource.processID { attributes.append(OTLPKeyValue(AttributeName.processID, id)) }
        let runtime = resource.runtime?.split(separator: " ", maxSplits: 1).map(String.init) ?? []
        for (name, value) in zip([AttributeName.runtimeName, AttributeName.runtimeVersion], runtime) {
            attributes.append(OTLPKeyValue(name, value))
        }
        attributes += resource.attributes.sorted { $0.key < $1.key }.map { OTLPKeyValue($0.key, $0.value) }
        attributes.append(OTLPKeyValue(AttributeName.serviceInstanceID, resource.instance))
        attributes.append(OTLPKeyValue(AttributeName.sdkName, OTLPScope.name))
        attributes.append(OTLPKeyValue(AttributeName.sdkLanguage, "swift"))
        attributes.append(OTLPKeyValue(AttributeName.sdkVersion, MartletVersion.current))
    }
}

extension [OTLPKeyValue] {
    /// The attributes of a metric's point.
    package init(_ dimensions: RequestDimensions) {
        self = (dimensions.attributes + dimensions.metricAttributes).map { OTLPKeyValue($0.name, $0.value) }
    }
}

extension RequestDimensions {
    /// The attributes of metrics that a span has among those of its instrument (semantic conventions, "HTTP Metrics" and
    /// "Messaging Metrics").
    fileprivate var metricAttributes: [(name: String, value: SpanAttribute)] {
        var attributes: [(name: String, value: SpanAttribute)] = []
        if conventions == .messaging { attributes.append((AttributeName.messagingDestination, .string(endpoint))) }
        if conventions == .rpc, let system { attributes.append((AttributeName.rpcSystem, .string(system))) }
        if kind == .server { attributes.append((AttributeName.urlScheme, .string(isSecure ? "https" : "http"))) }
        if let httpVersion { attributes.append((AttributeName.protocolVersion, .string(httpVersion.text))) }
        return attributes
    }

    /// The name of the attribute with the endpoint. A served request's `http.route` is its framework's route, or the
    /// service's own name for it.
    private var endpointAttribute: String {
        if kind == .client { return AttributeName.urlTemplate }
        let isKnown = isRoute && endpoint != Self.unmatched && endpoint != Self.other
        return isKnown ? AttributeName.route : AttributeName.endpoint
    }

    /// The attributes that name what was called.
    private var names: [(name: String, value: String)] {
        switch conventions {
        case .http, .rpc: [(AttributeName.method, method), (endpointAttribute, endpoint)]
        case .database:
            [
                (AttributeName.databaseSystem, system ?? ""), (AttributeName.databaseOperation, method),
                (AttributeName.databaseSummary, endpoint),
            ]
        case .messaging: [(AttributeName.messagingSystem, system ?? ""), (AttributeName.messagingOperation, method)]
        }
    }

    /// The attributes that metrics and spans have in common.
    var attributes: [(name: String, value: SpanAttribute)] {
        var attributes = names.map { (name: $0.name, value: SpanAttribute.string($0.value)) }
        if !host.isEmpty { attributes.append((AttributeName.serverAddress, .string(host))) }
        if port > 0 { attributes.append((AttributeName.serverPort, .integer(Int64(port)))) }
        if let status { attributes.append((AttributeName.status, .integer(Int64(status)))) }
        if let error { attributes.append((AttributeName.errorType, .string(error))) }
        if let rule { attributes.append((AttributeName.rule, .string(rule))) }
        return attributes
    }
}

/// The instrumentation scope of everything that Martlet sends.
package enum OTLPScope {
    package static let name = "martlet"
    /// The version of the semantic conventions for the names of attributes and metrics: the first that has all of them.
    /// `process.unix.file_descriptor.count` has its name since 1.39.0, and later versions rename none of them
    /// (opentelemetry.io/schemas/1.44.0).
    static let schemaURL = "https://opentelemetry.io/schemas/1.39.0"

    static var message: OTLPInstrumentationScope {
        var scope = OTLPInstrumentationScope()
        scope.name = name
        scope.version = MartletVersion.current
        return scope
    }
}
