/// Attribute names of the OpenTelemetry semantic conventions (HTTP, resource), and Martlet's own.
package enum AttributeName {
    package static let serviceName = "service.name"
    package static let serviceVersion = "service.version"
    package static let serviceInstanceID = "service.instance.id"
    package static let environment = "deployment.environment.name"
    package static let hostName = "host.name"
    package static let processID = "process.pid"
    package static let runtimeName = "process.runtime.name"
    package static let runtimeVersion = "process.runtime.version"
    package static let sdkName = "telemetry.sdk.name"
    package static let sdkLanguage = "telemetry.sdk.language"
    package static let sdkVersion = "telemetry.sdk.version"
    package static let captureMode = "martlet.capture.mode"
    package static let captureReason = "martlet.capture.reason"
    package static let rules = "martlet.rules"

    /// The attributes of a resource that are set apart: each has a meaning of its own for Martlet.
    package static let ofResource: Set<String> = [
        serviceName, serviceVersion, serviceInstanceID, environment, hostName, processID, sdkName, sdkLanguage,
        sdkVersion, runtimeName, runtimeVersion, captureMode, captureReason, rules,
    ]

    /// The attributes of a resource that change while the process runs.
    static let ofCapture: Set<String> = [captureMode, captureReason, rules]

    package static let method = "http.request.method"
    package static let serverAddress = "server.address"
    package static let serverPort = "server.port"
    package static let urlTemplate = "url.template"
    package static let urlFull = "url.full"
    package static let urlPath = "url.path"
    package static let route = "http.route"
    package static let status = "http.response.status_code"
    package static let errorType = "error.type"
    package static let requestBodySize = "http.request.body.size"
    package static let responseBodySize = "http.response.body.size"

    /// A prefix; a dot and the header field's name in lower case follow it.
    package static let requestHeaderPrefix = "http.request.header"
    /// See ``requestHeaderPrefix``.
    package static let responseHeaderPrefix = "http.response.header"
    package static let requestBody = "martlet.request.body"
    package static let responseBody = "martlet.response.body"
    package static let originalMethod = "http.request.method_original"
    package static let resendCount = "http.request.resend_count"
    package static let protocolVersion = "network.protocol.version"
    package static let peerAddress = "network.peer.address"
    package static let peerPort = "network.peer.port"

    package static let rule = "martlet.rule"
    package static let phase = "martlet.phase"
    /// `false` on a span of an HTTP request that is not counted, because a request within it was.
    package static let isCounted = "martlet.counted"
    package static let connectionReused = "martlet.connection.reused"
    package static let ledgerState = "martlet.state"
    package static let ledgerReason = "martlet.reason"
}
