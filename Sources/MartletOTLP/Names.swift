/// Attribute names of the OpenTelemetry semantic conventions, and Martlet's own.
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

    /// The attributes of a resource that Martlet handles separately.
    package static let resourceNames: Set<String> = [
        serviceName, serviceVersion, serviceInstanceID, environment, hostName, processID, sdkName, sdkLanguage,
        sdkVersion, runtimeName, runtimeVersion, captureMode, captureReason, rules,
    ]

    /// The attributes of a resource that change while the process runs.
    static let captureNames: Set<String> = [captureMode, captureReason, rules]

    package static let method = "http.request.method"
    package static let serverAddress = "server.address"
    package static let serverPort = "server.port"
    package static let urlTemplate = "url.template"
    package static let urlFull = "url.full"
    package static let urlPath = "url.path"
    package static let route = "http.route"
    package static let urlScheme = "url.scheme"
    package static let status = "http.response.status_code"
    package static let errorType = "error.type"
    package static let requestBodySize = "http.request.body.size"
    package static let responseBodySize = "http.response.body.size"

    /// A prefix. A dot and the header field's name in lower case follow.
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

    /// The endpoint of a served request if it is not the framework's route, so that `http.route` is never made of a path.
    package static let endpoint = "martlet.endpoint"
    package static let rule = "martlet.rule"
    package static let phase = "martlet.phase"
    /// `false` on the span of a request that is not counted, because a request within it was.
    package static let isCounted = "martlet.counted"
    package static let databaseSystem = "db.system.name"
    package static let databaseOperation = "db.operation.name"
    package static let databaseSummary = "db.query.summary"
    package static let databaseCollection = "db.collection.name"
    package static let databaseStatement = "db.query.text"
    package static let databaseStatus = "db.response.status_code"
    package static let messagingSystem = "messaging.system"
    package static let messagingOperation = "messaging.operation.name"
    package static let messagingDestination = "messaging.destination.name"
    package static let messagingTemplate = "messaging.destination.template"
    package static let rpcSystem = "rpc.system.name"

    package static let connectionReused = "martlet.connection.reused"
    package static let ledgerState = "martlet.state"
    /// The reason of a loss in the ledger, or the cause of an instance's end (``EndCause``).
    package static let ledgerReason = "martlet.reason"
    package static let endedInstance = "martlet.ended.instance"
    /// When the instance ended, in nanoseconds since 1970.
    package static let endedTime = "martlet.ended.time"
    package static let endedSignal = "martlet.ended.signal"
    /// The innermost places of a crash, one text each, the innermost first.
    package static let endedPlaces = "martlet.ended.frames"
    package static let endedBuild = "martlet.ended.build"
    /// Requests in flight, one text for each endpoint: the count, `server` or `client`, method and endpoint.
    package static let endedRequests = "martlet.ended.requests"
    package static let endedInFlight = "martlet.ended.in_flight"
    package static let codeFunction = "code.function.name"
    package static let codeFile = "code.file.path"
    package static let codeLine = "code.line.number"
}

/// Metric names of the OpenTelemetry semantic conventions, and Martlet's own.
package enum MetricName {
    package static let clientDuration = "http.client.request.duration"
    package static let serverDuration = "http.server.request.duration"
    package static let clientRequestSize = "http.client.request.body.size"
    package static let clientResponseSize = "http.client.response.body.size"
    package static let serverRequestSize = "http.server.request.body.size"
    package static let serverResponseSize = "http.server.response.body.size"
    package static let databaseDuration = "db.client.operation.duration"
    package static let messagingDuration = "messaging.client.operation.duration"
    package static let clientPhaseDuration = "martlet.client.phase.duration"
    package static let ledger = "martlet.agent.requests"
    package static let captureGap = "martlet.agent.unwatched"
    package static let agentCPU = "martlet.agent.cpu.time"
    package static let processEnd = "martlet.process.end"

    /// Returns a sentence for people who read the metric in another program; empty for a metric that no agent sends.
    static func description(of name: String) -> String { descriptions[name] ?? "" }

    private static let descriptions = [
        clientDuration: "Time of a request that the service made, until its end",
        serverDuration: "Time of a request that the service answered, until its end",
        databaseDuration: "Time of a call that the service made to a database",
        messagingDuration: "Time of a call that the service made to a message broker",
        clientRequestSize: "Body that the service sent with a request",
        clientResponseSize: "Body that the service received in answer to a request",
        serverRequestSize: "Body that the service received with a request",
        serverResponseSize: "Body that the service sent in answer to a request",
        clientPhaseDuration: "Time of one phase of a request that the service made",
        ledger: "Requests of the process by their state: captured is the sum of the others",
        captureGap: "Time in which capture was off",
        agentCPU: "CPU time of the agent itself",
        processEnd: "Ends of processes of the service, with the cause",
    ]

    /// The metrics whose points count each request once.
    package static let durations: Set<String> = [clientDuration, serverDuration, databaseDuration, messagingDuration]

    /// The metrics of the agent itself, counted from its start.
    package static let agentMetrics: Set<String> = [ledger, captureGap, agentCPU]

    /// Whether a metric of an agent's batch describes requests, and not the agent or its process.
    static func isOfRequests(_ name: String) -> Bool { !agentMetrics.contains(name) && !isOfProcess(name) }

    /// Whether a metric of an agent's batch describes its process.
    static func isOfProcess(_ name: String) -> Bool { name == processEnd || ProcessMetric(named: name) != nil }

    /// Returns the stable name of a metric for its earlier name ("HTTP semantic convention stability migration"), and
    /// any other name unchanged.
    package static func stable(of name: String) -> String { earlier[name] ?? name }

    private static let earlier = [
        "http.client.duration": clientDuration, "http.server.duration": serverDuration,
        "http.client.request.size": clientRequestSize, "http.client.response.size": clientResponseSize,
        "http.server.request.size": serverRequestSize, "http.server.response.size": serverResponseSize,
    ]
}

/// The values of `martlet.state`.
package enum LedgerState {
    package static let captured = "captured"
    package static let delivered = "delivered"
    package static let waiting = "waiting"
    package static let dropped = "dropped"
}
