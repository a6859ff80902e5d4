import Foundation
import Logging

extension MartletConfiguration {
    /// Returns the configuration that an environment asks for. Never fails: a variable that cannot be read keeps its default,
    /// and adds a sentence to `warnings`.
    ///
    /// An empty variable counts as unset. Where a `MARTLET_*` variable is unset, the `OTEL_*` variable beside it is used with
    /// the meaning of the OpenTelemetry specification ("Environment Variable Specification"). Of headers both are used, and
    /// `MARTLET_HEADERS` wins where they have the same name.
    public static func fromEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> (configuration: MartletConfiguration, warnings: [String]) {
        var reader = EnvironmentReader(environment)
        var configuration = MartletConfiguration()
        configuration.readIdentity(&reader)
        configuration.readCapture(&reader)
        configuration.readDetails(&reader)
        configuration.readContents(&reader)
        configuration.readBudget(&reader)
        configuration.readShipping(&reader)
        reader.warnAboutUnknown(prefix: "MARTLET_", except: "MARTLET_COLLECTOR_")
        return (configuration, reader.warnings)
    }

    private mutating func readIdentity(_ reader: inout EnvironmentReader) {
        if reader.text("MARTLET_ENABLED") != nil {
            isEnabled = reader.value("MARTLET_ENABLED", default: "true", as: EnvironmentValue.boolean) ?? true
        } else {
            let disabled = reader.value(
                "OTEL_SDK_DISABLED", default: "false", as: EnvironmentValue.specificationBoolean)
            isEnabled = !(disabled ?? false)
        }
        let resource =
            reader.value("OTEL_RESOURCE_ATTRIBUTES", default: "none", as: EnvironmentValue.specificationPairs) ?? [:]
        serviceName =
            reader.value("MARTLET_SERVICE_NAME", default: serviceName, as: EnvironmentValue.name)
            ?? reader.fallback(
                "OTEL_SERVICE_NAME", unless: "MARTLET_SERVICE_NAME", default: serviceName, as: EnvironmentValue.name)
            ?? reader.attribute("service.name", of: resource, unless: "MARTLET_SERVICE_NAME") ?? serviceName
        serviceVersion =
            reader.value("MARTLET_SERVICE_VERSION", default: "none", as: EnvironmentValue.name)
            ?? reader.attribute("service.version", of: resource, unless: "MARTLET_SERVICE_VERSION")
        environment =
            reader.value("MARTLET_ENVIRONMENT", default: "none", as: EnvironmentValue.name)
            ?? reader.attribute("deployment.environment.name", of: resource, unless: "MARTLET_ENVIRONMENT")
            ?? reader.attribute("deployment.environment", of: resource, unless: "MARTLET_ENVIRONMENT")
        resourceAttributes = resource
    }

    private mutating func readCapture(_ reader: inout EnvironmentReader) {
        capture = reader.value("MARTLET_CAPTURE", default: "automatic", as: EnvironmentValue.choice) ?? capture
        let globs = { EnvironmentValue.list($0, valid: EnvironmentValue.isGlob) }
        include = reader.value("MARTLET_INCLUDE", default: "everything", as: globs) ?? include
        exclude = reader.value("MARTLET_EXCLUDE", default: "nothing", as: globs) ?? exclude
        endpoints = reader.templates("MARTLET_ENDPOINTS") ?? endpoints
        maxEndpoints =
            reader.value("MARTLET_MAX_ENDPOINTS", default: "1000", as: EnvironmentValue.positiveInteger) ?? maxEndpoints
        bootstrapsTracing =
            reader.value("MARTLET_TRACING", default: "true", as: EnvironmentValue.boolean) ?? bootstrapsTracing
        propagate =
            reader.value("MARTLET_PROPAGATE", default: "true", as: EnvironmentValue.boolean)
            ?? reader.fallback(
                "OTEL_PROPAGATORS", unless: "MARTLET_PROPAGATE", default: "tracecontext",
                as: EnvironmentValue.specificationPropagation) ?? propagate
        rulesFile = reader.value("MARTLET_RULES", default: "none", as: EnvironmentValue.file)
        hung = reader.value("MARTLET_HUNG", default: "5m", as: EnvironmentValue.interval) ?? hung
        logLevel =
            reader.value("MARTLET_LOG_LEVEL", default: "warning", as: EnvironmentValue.logLevel)
            ?? reader.fallback(
                "OTEL_LOG_LEVEL", unless: "MARTLET_LOG_LEVEL", default: "warning", as: EnvironmentValue.logLevel)
            ?? logLevel
    }

    private mutating func readDetails(_ reader: inout EnvironmentReader) {
        sampleRate =
            reader.value("MARTLET_SAMPLE_RATE", default: "\(Self.defaultSampleRate)", as: EnvironmentValue.share)
            ?? reader.specificationSampleRate(unless: "MARTLET_SAMPLE_RATE") ?? sampleRate
        keepFailures =
            reader.value("MARTLET_KEEP_FAILURES", default: "true", as: EnvironmentValue.boolean) ?? keepFailures
        slow = reader.value("MARTLET_SLOW", default: "1s", as: EnvironmentValue.duration) ?? slow
    }

    private mutating func readContents(_ reader: inout EnvironmentReader) {
        capturePaths =
            reader.value("MARTLET_CAPTURE_PATHS", default: "false", as: EnvironmentValue.boolean) ?? capturePaths
        captureHeaders =
            reader.value("MARTLET_CAPTURE_HEADERS", default: "none", as: EnvironmentValue.headers) ?? captureHeaders
        captureBodies =
            reader.value("MARTLET_CAPTURE_BODIES", default: "none", as: EnvironmentValue.choice) ?? captureBodies
        bodyLimit = reader.value("MARTLET_BODY_LIMIT", default: "4KiB", as: EnvironmentValue.bodyLimit) ?? bodyLimit
        redact =
            reader.value("MARTLET_REDACT", default: "the built-in list") {
                EnvironmentValue.list($0) { EnvironmentValue.name($0) != nil }
            } ?? redact
    }

    private mutating func readBudget(_ reader: inout EnvironmentReader) {
        maxCPU = reader.value("MARTLET_MAX_CPU", default: "5%", as: EnvironmentValue.positiveShare) ?? maxCPU
        maxMemory = reader.value("MARTLET_MAX_MEMORY", default: "32MiB", as: EnvironmentValue.budget) ?? maxMemory
    }

    private mutating func readShipping(_ reader: inout EnvironmentReader) {
        collectors =
            reader.readable(
                "MARTLET_ENDPOINT", of: "addresses", default: "http://127.0.0.1:4318", as: EnvironmentValue.address)
            ?? reader.fallback(
                "OTEL_EXPORTER_OTLP_ENDPOINT", unless: "MARTLET_ENDPOINT", default: "http://127.0.0.1:4318",
                as: EnvironmentValue.address
            ).map { [$0] } ?? collectors
        token = reader.value("MARTLET_TOKEN", default: "none", secret: true, as: EnvironmentValue.token)
        addHeaders(of: "OTEL_EXPORTER_OTLP_HEADERS", default: "none", &reader)
        addHeaders(of: "MARTLET_HEADERS", default: "those of OTEL_EXPORTER_OTLP_HEADERS alone", &reader)
        interval =
            reader.value("MARTLET_INTERVAL", default: "10s", as: EnvironmentValue.interval)
            ?? reader.fallback(
                "OTEL_METRIC_EXPORT_INTERVAL", unless: "MARTLET_INTERVAL", default: "10s",
                as: { EnvironmentValue.milliseconds($0).flatMap(EnvironmentValue.interval) }) ?? interval
        bufferDirectory = reader.value(
            "MARTLET_BUFFER_DIR", default: "the state directory", as: EnvironmentValue.directory)
        bufferMax = reader.value("MARTLET_BUFFER_MAX", default: "64MiB", as: EnvironmentValue.bytes) ?? bufferMax
        bufferAdopt =
            reader.value("MARTLET_BUFFER_ADOPT", default: "none", as: EnvironmentValue.addresses) ?? bufferAdopt
        compression =
            reader.value("MARTLET_COMPRESSION", default: "gzip", as: EnvironmentValue.choice)
            ?? reader.fallback(
                "OTEL_EXPORTER_OTLP_COMPRESSION", unless: "MARTLET_COMPRESSION", default: "gzip",
                as: EnvironmentValue.choice) ?? compression
        temporality =
            reader.value("MARTLET_TEMPORALITY", default: "delta", as: EnvironmentValue.temporality)
            ?? reader.fallback(
                "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", unless: "MARTLET_TEMPORALITY", default: "delta",
                as: EnvironmentValue.temporality) ?? temporality
        transport = reader.value("MARTLET_TRANSPORT", default: "automatic choice", as: EnvironmentValue.choice)
        certificate = file("CERTIFICATE", &reader)
        clientCertificate = file("CLIENT_CERTIFICATE", &reader)
        clientKey = file("CLIENT_KEY", &reader)
        exportTimeout =
            reader.value("MARTLET_EXPORT_TIMEOUT", default: "10s", as: EnvironmentValue.interval)
            ?? reader.fallback(
                "OTEL_EXPORTER_OTLP_TIMEOUT", unless: "MARTLET_EXPORT_TIMEOUT", default: "10s",
                as: { EnvironmentValue.milliseconds($0).flatMap(EnvironmentValue.interval) }) ?? exportTimeout
    }

    /// Adds a variable's header fields. Names are the same in any case, and the last one counts.
    private mutating func addHeaders(
        of variable: String, default fallback: String, _ reader: inout EnvironmentReader
    ) {
        let fields = reader.readable(
            variable, of: "headers", default: fallback, secret: true, as: EnvironmentValue.specificationHeader)
        for (name, value) in fields ?? [] {
            headers = headers.filter { $0.key.lowercased() != name.lowercased() }
            headers[name] = value
        }
    }

    private func file(_ name: String, _ reader: inout EnvironmentReader) -> URL? {
        reader.value("MARTLET_\(name)", default: "none", as: EnvironmentValue.file)
            ?? reader.fallback(
                "OTEL_EXPORTER_OTLP_\(name)", unless: "MARTLET_\(name)", default: "none", as: EnvironmentValue.file)
    }
}
