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
        attributes.append(OTLPKeyValue(AttributeName.serviceInstanceID, resource.instance))
        attributes.append(OTLPKeyValue(AttributeName.sdkName, OTLPScope.name))
        attributes.append(OTLPKeyValue(AttributeName.sdkLanguage, "swift"))
        attributes.append(OTLPKeyValue(AttributeName.sdkVersion, OTLPScope.version))
    }
}

extension [OTLPKeyValue] {
    /// The attributes that metrics and spans have in common.
    package init(_ dimensions: RequestDimensions) {
        self = [OTLPKeyValue(AttributeName.method, dimensions.method)]
        append(
            OTLPKeyValue(
                dimensions.kind == .client ? AttributeName.urlTemplate : AttributeName.route, dimensions.endpoint))
        if !dimensions.host.isEmpty { append(OTLPKeyValue(AttributeName.serverAddress, dimensions.host)) }
        if dimensions.port > 0 { append(OTLPKeyValue(AttributeName.serverPort, Int64(dimensions.port))) }
        if let status = dimensions.status { append(OTLPKeyValue(AttributeName.status, Int64(status))) }
        if let error = dimensions.error { append(OTLPKeyValue(AttributeName.errorType, error)) }
    }
}

/// The instrumentation scope of everything that Martlet sends.
package enum OTLPScope {
    package static let name = "martlet"
    /// Martlet's own version, `telemetry.sdk.version`.
    package static let version = "0.1.0"

    static var message: OTLPInstrumentationScope {
        var scope = OTLPInstrumentationScope()
        scope.name = name
        scope.version = version
        return scope
    }
}
