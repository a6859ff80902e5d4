import Foundation
import Logging
import MartletTelemetry

extension MartletConfiguration {
    /// Returns the configuration in an environment. Never fails: a variable that cannot be read keeps its default, and
    /// adds a sentence to `warnings`.
    ///
    /// An empty variable counts as unset. If a `MARTLET_*` variable is unset, the corresponding `OTEL_*` variable is
    /// used with the meaning of the OpenTelemetry specification ("Environment Variable Specification"). Both variables
    /// of headers are used. If both set a field, `MARTLET_HEADERS` wins.
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
        propagateTo = reader.value("MARTLET_PROPAGATE_TO", default: "everywhere", as: globs) ?? propagateTo
        trustCallers =
            reader.value("MARTLET_TRUST_CALLERS", default: "true", as: EnvironmentValue.boolean) ?? trustCallers
        rulesFile = reader.value("MARTLET_RULES", default: "none", as: EnvironmentValue.file)
        watchCrashes =
            reader.value("MARTLET_CRASHES", default: "on", as: EnvironmentValue.boolean) ?? watchCrashes
        hung = reader.value("MARTLET_HUNG", default: "5m", as: EnvironmentValue.interval) ?? hung
        logLevel =
            reader.value("MARTLET_LOG_LEVEL", default: "warning", as: EnvironmentValue.logLevel)
            ?? reader.fallback(
                "OTEL_LOG_LEVEL", unless: "MARTLET_LOG_LEVEL", default: "warning", as: EnvironmentValue.logLevel)
            ?? logLevel
    }

    private mutating func readDetails(_ reader: inout EnvironmentReader) {
        let sampler = reader.specificationSampler(unless: "MARTLET_SAMPLE_RATE")
        sampleRate =
            reader.value("MARTLET_SAMPLE_RATE", default: "\(Self.defaultSampleRate)", as: EnvironmentValue.share)
            ?? sampler?.rate ?? sampleRate
        ignoresCallersFlag = sampler?.isParentBased == false
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
        reader.warnAboutProtocol(of: collectors, unless: "MARTLET_ENDPOINT")
        token = reader.value("MARTLET_TOKEN", default: "none", secret: true, as: EnvironmentValue.token)
        addHeaders(of: "OTEL_EXPORTER_OTLP_HEADERS", default: "none", &reader)
        addHeaders(of: "MARTLET_HEADERS", default: "only those of OTEL_EXPORTER_OTLP_HEADERS", &reader)
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
        proxy = reader.value("MARTLET_PROXY", default: "that of https_proxy for https", as: EnvironmentValue.proxy)
        certificate = file("CERTIFICATE", &reader)
        clientCertificate = file("CLIENT_CERTIFICATE", &reader)
        clientKey = file("CLIENT_KEY", &reader)
        exportTimeout =
            reader.value("MARTLET_EXPORT_TIMEOUT", default: "10s", as: EnvironmentValue.interval)
            ?? reader.fallback(
                "OTEL_EXPORTER_OTLP_TIMEOUT", unless: "MARTLET_EXPORT_TIMEOUT", default: "10s",
                as: { EnvironmentValue.milliseconds($0).flatMap(EnvironmentValue.interval) }) ?? exportTimeout
    }

    /// Adds a variable's header fields. Names are case-insensitive, and the last one counts.
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

/// Looks variables up in a passed environment and keeps a warning for each value that cannot be used.
struct EnvironmentReader {
    private let environment: [String: String]
    private(set) var warnings: [String] = []
    private(set) var known: Set<String> = []

    init(_ environment: [String: String]) {
        self.environment = environment
    }

    /// Returns the variable's text; `nil` if it is unset or empty.
    mutating func text(_ variable: String) -> String? {
        known.insert(variable)
        return environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the variable's value; `nil` if it is unset, and `nil` with a warning that names the default if it cannot be
    /// read.
    mutating func value<T>(
        _ variable: String, default fallback: String, secret: Bool = false, as read: (String) -> T?
    ) -> T? {
        guard let text = text(variable) else { return nil }
        if let value = read(text) { return value }
        warnings.append("\(variable)=\(shown(text, secret: secret)) cannot be read; using the default, \(fallback)")
        return nil
    }

    /// Returns the items of a comma-separated variable that can be read, with a warning about the others. `nil` if the
    /// variable is unset. `nil` with a warning that names the default if no item can be read.
    ///
    /// - Parameter noun: the plural for the items. For secret items the warning gives only their positions.
    mutating func readable<T>(
        _ variable: String, of noun: String, default fallback: String, secret: Bool = false, as read: (String) -> T?
    ) -> [T]? {
        guard let items = text(variable).flatMap({ EnvironmentValue.list($0) { _ in true } }) else { return nil }
        let values = items.map { (text: $0, value: read($0)) }
        if values.allSatisfy({ $0.value == nil }) {
            return value(variable, default: fallback, secret: secret) { _ in nil }
        }
        let unread = values.enumerated().filter { $0.element.value == nil }
            .map { secret ? "item \($0.offset + 1)" : shown($0.element.text, secret: false) }.joined(separator: ", ")
        if !unread.isEmpty { warnings.append("\(variable): \(unread) cannot be read; using the other \(noun)") }
        return values.compactMap(\.value)
    }

    /// Returns the path templates of a variable that can name an endpoint. One warning names each of the others with
    /// the reason. `nil` if the variable is unset.
    mutating func templates(_ variable: String) -> [String]? {
        guard let items = text(variable).flatMap({ EnvironmentValue.list($0) { _ in true } }) else { return nil }
        var (templates, faults) = ([EndpointTemplate](), [String]())
        for item in items {
            do throws(EndpointTemplate.Mistake) {
                templates.append(try EndpointTemplate(reading: item, after: templates))
            } catch {
                // A query may contain a secret.
                faults.append("\(shown(String(item.prefix { $0 != "?" }), secret: false)) (\(error.reason))")
            }
        }
        if !faults.isEmpty {
            let rest = templates.isEmpty ? "default, none" : "other templates"
            warnings.append("\(variable)=\(faults.joined(separator: ", ")) can never match; using the \(rest)")
        }
        return templates.map(\.name)
    }

    /// Adds a warning for each unknown variable with Martlet's prefix: it is most likely misspelled.
    mutating func warnAboutUnknown(prefix: String, except other: String) {
        for variable in environment.keys.sorted()
        where variable.hasPrefix(prefix) && !variable.hasPrefix(other) && !known.contains(variable) {
            warnings.append("\(variable) is not a variable of Martlet; check its spelling")
        }
    }

    /// Returns the text as a warning shows it: printable, short, and hidden if it may be a URL with a credential.
    private func shown(_ text: String, secret: Bool) -> String {
        secret || text.utf8.contains { "@?".utf8.contains($0) } ? "(hidden)" : "\"\(text.printable(upTo: 100))\""
    }
}

/// Reads the variables of the OpenTelemetry specification, where Martlet's are unset.
extension EnvironmentReader {
    /// Returns the value of the specification's variable if Martlet's is unset.
    mutating func fallback<T>(
        _ variable: String, unless own: String, default fallback: String, secret: Bool = false,
        as read: (String) -> T?
    ) -> T? {
        text(own) == nil ? value(variable, default: fallback, secret: secret, as: read) : nil
    }

    /// Warns of variables of the specification that ask for another protocol, or for an address per signal, unless
    /// Martlet's own variable replaces them. Warns of collectors at the port for gRPC, too.
    mutating func warnAboutProtocol(of collectors: [URL], unless own: String) {
        let isOwn = text(own) != nil
        if collectors.contains(where: { $0.port == 4317 }) {
            warnings.append(
                "\(isOwn ? own : "OTEL_EXPORTER_OTLP_ENDPOINT"): port 4317 is for OTLP over gRPC; "
                    + "Martlet sends OTLP over HTTP, which has port 4318")
        }
        for signal in ["", "METRICS_", "TRACES_"] where !isOwn {
            let variable = "OTEL_EXPORTER_OTLP_\(signal)PROTOCOL"
            guard let asked = text(variable), asked.lowercased() != "http/protobuf" else { continue }
            warnings.append("\(variable)=\(shown(asked, secret: false)) is not supported; using http/protobuf")
        }
        for signal in Signal.allCases where !isOwn {
            let variable = "OTEL_EXPORTER_OTLP_\(signal.rawValue.uppercased())_ENDPOINT"
            guard text(variable) != nil else { continue }
            warnings.append(
                "\(variable) is not supported; using OTEL_EXPORTER_OTLP_ENDPOINT with /v1/\(signal.rawValue)")
        }
    }

    /// Returns a resource attribute if Martlet's variable is unset.
    mutating func attribute(_ name: String, of resource: [String: String], unless own: String) -> String? {
        text(own) == nil ? resource[name] : nil
    }

    /// Returns the sampler in the specification's variables, if Martlet's variable is unset: its rate, and whether the
    /// caller's flag decides (specification, "Tracing SDK", section "Built-in samplers").
    mutating func specificationSampler(unless own: String) -> (rate: Double, isParentBased: Bool)? {
        let rate = MartletConfiguration.defaultSampleRate
        let argument: Double? =
            fallback("OTEL_TRACES_SAMPLER_ARG", unless: own, default: "\(rate)", as: EnvironmentValue.ratio)
        return fallback("OTEL_TRACES_SAMPLER", unless: own, default: "a rate of \(rate)") { sampler in
            let name = sampler.lowercased()
            let isParentBased = name.hasPrefix("parentbased_")
            return switch isParentBased ? String(name.dropFirst("parentbased_".count)) : name {
            case "always_on": (1, isParentBased)
            case "always_off": (0, isParentBased)
            case "traceidratio": (argument ?? 1, isParentBased)
            default: nil
            }
        }
    }
}
