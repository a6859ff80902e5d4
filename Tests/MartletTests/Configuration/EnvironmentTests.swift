import Fixtures
import Foundation
import Testing

@testable import Martlet

@Suite struct EnvironmentTests {
    /// The rows of the document's table: variable, fallback, default, meaning.
    static let table = ((try? Repository.table(after: "# The agent's environment", in: "docs/configuration.md")) ?? [])
        .filter { $0[0] != "" }
    static let variables = table.map { $0[0] }

    static let nonsense = "\u{1b}[31m{nonsense"

    /// The variables whose default is described in words, and a check that a configuration has that default.
    private static let defaultsInWords: [String: @Sendable (MartletConfiguration) -> Bool] = [
        "MARTLET_SERVICE_NAME": { $0.serviceName == ProcessInfo.processInfo.processName },
        "MARTLET_SERVICE_VERSION": { $0.serviceVersion == nil }, "MARTLET_ENVIRONMENT": { $0.environment == nil },
        "MARTLET_TOKEN": { $0.token == nil }, "MARTLET_HEADERS": { $0.headers.isEmpty },
        "MARTLET_INCLUDE": { $0.include.isEmpty }, "MARTLET_EXCLUDE": { $0.exclude.isEmpty },
        "MARTLET_PROPAGATE_TO": { $0.propagateTo.isEmpty },
        "MARTLET_ENDPOINTS": { $0.endpoints.isEmpty }, "MARTLET_REDACT": { $0.redact.isEmpty },
        "MARTLET_RULES": { $0.rulesFile == nil }, "MARTLET_BUFFER_DIR": { $0.bufferDirectory == nil },
        "MARTLET_BUFFER_ADOPT": { $0.bufferAdopt.isEmpty }, "MARTLET_TRANSPORT": { $0.transport == nil },
        "MARTLET_CERTIFICATE": { $0.certificate == nil }, "MARTLET_CLIENT_CERTIFICATE": { $0.clientCertificate == nil },
        "MARTLET_CLIENT_KEY": { $0.clientKey == nil }, "MARTLET_PROXY": { $0.proxy == nil },
    ]

    @Test func defaultsMatchTheDocumentAndTheWarnings() {
        let defaults = MartletConfiguration.fromEnvironment([:]).configuration
        #expect(Self.table.count > 35)
        for row in Self.table {
            let (variable, value) = (row[0], row[2])
            if let isDefault = Self.defaultsInWords[variable] {
                #expect(isDefault(defaults), "\(variable)")
            } else {
                let (configuration, warnings) = MartletConfiguration.fromEnvironment([variable: value])
                #expect(warnings == [])
                #expect(Self.properties(of: configuration) == Self.properties(of: defaults), "\(variable)")
                let warning = MartletConfiguration.fromEnvironment([variable: Self.nonsense]).warnings.first ?? ""
                #expect(warning.hasSuffix("using the default, \(value)"), "\(warning)")
            }
        }
    }

    /// Bounds are part of the meaning: "at least 100ms", "at most 1MiB".
    @Test func boundsMatchTheDocument() throws {
        let beyond = ["at least 100ms": "99ms", "at most 1MiB": "1048577"]
        var bounded: [String] = []
        for row in Self.table {
            guard let bound = row[3].firstMatch(of: #/at (?:least|most) (\d+(?:ms|MiB))/#) else { continue }
            bounded.append(row[0])
            let further = try #require(beyond[String(bound.output.0)])
            #expect(MartletConfiguration.fromEnvironment([row[0]: String(bound.output.1)]).warnings == [])
            #expect(MartletConfiguration.fromEnvironment([row[0]: further]).warnings.count == 1)
        }
        #expect(bounded == ["BODY_LIMIT", "HUNG", "INTERVAL", "EXPORT_TIMEOUT"].map { "MARTLET_" + $0 })
        let meanings = Dictionary(uniqueKeysWithValues: Self.table.map { ($0[0], $0[3]) })
        let (kept, bank) = (MartletLimits.failureDetails, MartletLimits.segment * Journal.slots)
        #expect(meanings["MARTLET_KEEP_FAILURES"]?.contains("at most \(kept) an interval") == true)
        #expect(meanings["MARTLET_MAX_MEMORY"]?.contains("\((bank * Journal.banks) >> 20) MiB at most, count") == true)
    }

    @Test(arguments: variables)
    func nonsenseGivesOneWarningThatNamesTheVariable(variable: String) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment([variable: Self.nonsense])
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasPrefix("\(variable)=") == true)
        #expect(warnings.first?.contains("using the default, ") == true)
        #expect(warnings.first?.contains("\u{1b}") == false)
        #expect(Self.properties(of: configuration) == Self.properties(of: MartletConfiguration()))
    }

    @Test func eachVariableWithANonsenseValueGivesOneWarning() {
        let environment = Dictionary(uniqueKeysWithValues: Self.variables.map { ($0, Self.nonsense) })
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(environment)
        #expect(warnings.count == Self.variables.count)
        #expect(Self.properties(of: configuration) == Self.properties(of: MartletConfiguration()))
    }

    @Test func emptyVariableCountsAsUnset() {
        let environment = Dictionary(uniqueKeysWithValues: Self.variables.map { ($0, "") })
        #expect(MartletConfiguration.fromEnvironment(environment).warnings.isEmpty)
    }

    @Test func everySettingIsRead() {
        let environment = [
            "MARTLET_ENABLED": "Off", "MARTLET_SERVICE_NAME": "checkout", "MARTLET_SERVICE_VERSION": "1.2",
            "MARTLET_ENVIRONMENT": "staging", "MARTLET_ENDPOINT": "https://collector.example:4318/base",
            "MARTLET_TOKEN": "s3cret", "MARTLET_HEADERS": "api-key=a%2Cb, X-Scope-OrgID=7",
            "MARTLET_CAPTURE": "Explicit",
            "MARTLET_INCLUDE": "*.example.com, 10.0.0.*:80/x/*", "MARTLET_EXCLUDE": "a.example.com",
            "MARTLET_ENDPOINTS": "/users/{id}, /static/*",
            "MARTLET_MAX_ENDPOINTS": "12", "MARTLET_SAMPLE_RATE": "0.25", "MARTLET_KEEP_FAILURES": "no",
            "MARTLET_SLOW": "500ms", "MARTLET_PROPAGATE": "0", "MARTLET_TRACING": "off",
            "MARTLET_PROPAGATE_TO": "*.internal, 10.0.0.*:80", "MARTLET_TRUST_CALLERS": "no",
            "MARTLET_CAPTURE_PATHS": "yes", "MARTLET_CAPTURE_HEADERS": "via,Server",
            "MARTLET_CAPTURE_BODIES": "Failures", "MARTLET_BODY_LIMIT": "16KiB", "MARTLET_REDACT": "ssn, card number",
            "MARTLET_CRASHES": "off", "MARTLET_HUNG": "90s", "MARTLET_MAX_CPU": "1.5%", "MARTLET_MAX_MEMORY": "8MiB",
            "MARTLET_INTERVAL": "2",
            "MARTLET_BUFFER_DIR": "/var/lib/x",
            "MARTLET_BUFFER_MAX": "1.5MiB", "MARTLET_BUFFER_ADOPT": "http://old:4318, https://older",
            "MARTLET_COMPRESSION": "none", "MARTLET_TEMPORALITY": "Cumulative", "MARTLET_EXPORT_TIMEOUT": "1m",
            "MARTLET_LOG_LEVEL": "debug", "MARTLET_TRANSPORT": "URLSession", "MARTLET_CERTIFICATE": "ca.pem",
            "MARTLET_CLIENT_CERTIFICATE": "/etc/martlet/client.pem", "MARTLET_CLIENT_KEY": "/etc/martlet/client.key",
            "MARTLET_RULES": "/etc/shop/rules.json5", "MARTLET_PROXY": "http://grace:hunter2@proxy:3128",
        ]
        #expect(Set(environment.keys) == Set(Self.variables))
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(environment)
        #expect(warnings == [])
        #expect(configuration.isEnabled == false)
        #expect(configuration.serviceName == "checkout")
        #expect(configuration.serviceVersion == "1.2")
        #expect(configuration.environment == "staging")
        #expect(configuration.collector.absoluteString == "https://collector.example:4318/base")
        #expect(configuration.token == "s3cret")
        #expect(configuration.headers == ["api-key": "a,b", "X-Scope-OrgID": "7"])
        #expect(configuration.capture == .explicit)
        #expect(configuration.include == ["*.example.com", "10.0.0.*:80/x/*"])
        #expect(configuration.exclude == ["a.example.com"])
        #expect(configuration.endpoints == ["/users/{id}", "/static/*"])
        #expect(configuration.maxEndpoints == 12)
        #expect(configuration.sampleRate == 0.25)
        #expect(configuration.keepFailures == false)
        #expect(configuration.slow == .milliseconds(500))
        #expect(configuration.propagate == false)
        #expect(configuration.propagateTo == ["*.internal", "10.0.0.*:80"])
        #expect(configuration.trustCallers == false)
        #expect(configuration.bootstrapsTracing == false)
        #expect(configuration.capturePaths)
        #expect(configuration.captureHeaders == .named(["via", "server"]))
        #expect(configuration.captureBodies == .failures)
        #expect(configuration.bodyLimit == 16384)
        #expect(configuration.redact == ["ssn", "card number"])
        #expect(configuration.watchCrashes == false)
        #expect(configuration.hung == .seconds(90))
        #expect(configuration.maxCPU == 0.015)
        #expect(configuration.maxMemory == 8_388_608)
        #expect(configuration.interval == .seconds(2))
        #expect(configuration.bufferDirectory?.path == "/var/lib/x")
        #expect(configuration.bufferMax == 1_572_864)
        #expect(configuration.bufferAdopt.map(\.absoluteString) == ["http://old:4318", "https://older"])
        #expect(configuration.compression == .none)
        #expect(configuration.temporality == .cumulative)
        #expect(configuration.exportTimeout == .seconds(60))
        #expect(configuration.logLevel == .debug)
        #expect(configuration.transport == .urlSession)
        #expect(configuration.certificate == URL(fileURLWithPath: "ca.pem"))
        #expect(configuration.clientCertificate?.path == "/etc/martlet/client.pem")
        #expect(configuration.clientKey?.path == "/etc/martlet/client.key")
        #expect(configuration.rulesFile?.path == "/etc/shop/rules.json5")
        #expect(configuration.proxy?.absoluteString == "http://grace:hunter2@proxy:3128")
    }

    @Test func specificationVariablesAreUsedIfMartletsAreUnset() {
        let otel = [
            "OTEL_SDK_DISABLED": "true",
            "OTEL_RESOURCE_ATTRIBUTES": "service.version=7%2E1,deployment.environment.name=prod,team=caf%C3%A9",
            "OTEL_SERVICE_NAME": "basket", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel:4318",
            "OTEL_EXPORTER_OTLP_HEADERS": "x=y,Authorization=Bearer%20abc",
            "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
            "OTEL_TRACES_SAMPLER_ARG": "0.5", "OTEL_METRIC_EXPORT_INTERVAL": "60000",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none", "OTEL_EXPORTER_OTLP_TIMEOUT": "2500", "OTEL_LOG_LEVEL": "WARN",
            "OTEL_EXPORTER_OTLP_CERTIFICATE": "/otel/ca.pem",
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "/otel/client.pem",
            "OTEL_EXPORTER_OTLP_CLIENT_KEY": "/otel/client.key",
        ]
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(otel)
        #expect(warnings == [])
        #expect(configuration.isEnabled == false)
        #expect(configuration.serviceName == "basket")
        #expect(configuration.serviceVersion == "7.1")
        #expect(configuration.environment == "prod")
        #expect(configuration.resourceAttributes["team"] == "café")
        #expect(configuration.collector.absoluteString == "http://otel:4318")
        #expect(configuration.headers == ["x": "y", "Authorization": "Bearer abc"])
        #expect(configuration.sampleRate == 0.5)
        #expect(configuration.interval == .seconds(60))
        #expect(configuration.compression == .none)
        #expect(configuration.exportTimeout == .milliseconds(2500))
        #expect(configuration.logLevel == .warning)
        #expect(configuration.certificate?.path == "/otel/ca.pem")
        #expect(configuration.clientCertificate?.path == "/otel/client.pem")
        #expect(configuration.clientKey?.path == "/otel/client.key")

        let own = otel.merging(["MARTLET_SERVICE_NAME": "own", "MARTLET_ENABLED": "true", "MARTLET_INTERVAL": "3s"]) {
            $1
        }
        let mixed = MartletConfiguration.fromEnvironment(own).configuration
        #expect(mixed.serviceName == "own")
        #expect(mixed.isEnabled)
        #expect(mixed.interval == .seconds(3))
    }

    private static let otherExporters = [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "https://grace:hunter2@collector/v1/metrics"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://collector/v1/traces?key=hunter2"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317"),
        ("MARTLET_ENDPOINT", "http://collector:4318,http://grace:hunter2@collector:4317"),
    ]

    @Test(arguments: otherExporters)
    func anotherProtocolOrAnAddressForOneSignalGivesOneWarning(variable: String, value: String) {
        let warnings = MartletConfiguration.fromEnvironment([variable: value]).warnings
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasPrefix(variable) == true)
        #expect(warnings.first?.contains("hunter2") == false)
        // The specification's variables are for the service's other libraries, too.
        let own = [variable: value].merging(["MARTLET_ENDPOINT": "http://own:4318"]) { $1 }
        #expect(MartletConfiguration.fromEnvironment(own).warnings == [])
    }

    @Test(arguments: ["", "METRICS_", "TRACES_"]) func protocolOfUploadsGivesNoWarning(signal: String) {
        for value in ["http/protobuf", "HTTP/Protobuf", ""] {
            let environment = ["OTEL_EXPORTER_OTLP_\(signal)PROTOCOL": value]
            #expect(MartletConfiguration.fromEnvironment(environment).warnings == [])
        }
    }

    @Test func unreadableVariableDoesNotFallBackToTheSpecificationsVariable() {
        let environment = ["MARTLET_INTERVAL": "soon", "OTEL_METRIC_EXPORT_INTERVAL": "60000"]
        #expect(MartletConfiguration.fromEnvironment(environment).configuration.interval == .seconds(10))
    }

    @Test(arguments: [
        "MARTLET_TOKEN": "top secret", "MARTLET_HEADERS": "top secret",
        "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%0AdG9wIHNlY3JldA==",
    ])
    func secretIsNeverShown(variable: String, value: String) {
        let warnings = MartletConfiguration.fromEnvironment([variable: value]).warnings
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("(hidden)") == true)
        #expect(warnings.first?.contains("secret") == false)
        #expect(warnings.first?.contains("dG9w") == false)
    }

    @Test func unreadableHeadersGiveOneWarningWithoutValuesAndTheOthersAreUsed() {
        let text = "api-key=k=1,hunter2,Content-Type=text/hunter2,martlet-batch=hunter2,API-Key=k2,x=%0Ahunter2,y="
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_HEADERS": text])
        #expect(configuration.headers == ["API-Key": "k2"])
        #expect(
            warnings == [
                "MARTLET_HEADERS: item 2, item 3, item 4, item 6, item 7 cannot be read; using the other headers"
            ])
    }

    @Test func martletHeadersReplaceThoseOfTheSpecificationsVariableByName() {
        var environment = [
            "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20otel,X-Scope-OrgID=7",
            "MARTLET_HEADERS": "api-key=k,x-scope-orgid=8",
        ]
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(environment)
        #expect(configuration.headers == ["authorization": "Bearer otel", "api-key": "k", "x-scope-orgid": "8"])
        #expect(warnings == [])
        environment["MARTLET_HEADERS"] = "hunter2"
        let (other, complaints) = MartletConfiguration.fromEnvironment(environment)
        #expect(other.headers == ["authorization": "Bearer otel", "X-Scope-OrgID": "7"])
        #expect(
            complaints == [
                "MARTLET_HEADERS=(hidden) cannot be read; "
                    + "using the default, only those of OTEL_EXPORTER_OTLP_HEADERS"
            ])
    }

    @Test func headerMayBeAsLongAsAVendorsKey() {
        let key = String(repeating: "k", count: 2000)
        let configuration = MartletConfiguration.fromEnvironment(["MARTLET_HEADERS": "api-key=\(key)"]).configuration
        #expect(configuration.headers == ["api-key": key])
    }

    @Test func configurationsDescriptionContainsNoSecrets() {
        var configuration = MartletConfiguration()
        configuration.serviceName = "visible"
        configuration.token = "hunter2"
        configuration.headers = ["api-key": "hunter3"]
        configuration.proxy = URL(string: "http://grace:hunter4@proxy")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(text.contains("visible"))
            #expect(!text.contains("hunter"))
        }
    }

    @Test(arguments: ["ftp://user:hunter2@host", "https://host/?api-key=hunter2"])
    func secretInAnUnusableEndpointIsNotShown(endpoint: String) {
        let warnings = MartletConfiguration.fromEnvironment(["MARTLET_ENDPOINT": endpoint]).warnings
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("hunter2") == false)
    }

    @Test(arguments: ["MARTLET_INCLUDE", "MARTLET_EXCLUDE"])
    func patternWithASchemeGivesAWarningBecauseItWouldMatchNothing(name: String) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment([name: "http://api.example.com/*"])
        #expect(configuration.include.isEmpty && configuration.exclude.isEmpty)
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasPrefix(name) == true)
    }

    @Test(arguments: ["http://127.0.0.1:99999", "http://127.0.0.1:0"])
    func addressWithAnImpossiblePortGivesAWarning(address: String) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_ENDPOINT": address])
        #expect(configuration.collectors == MartletConfiguration().collectors)
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains(address) == true)
    }

    @Test func templatesThatNeverMatchGiveOneWarningAndTheOthersAreUsed() {
        let text =
            "users/{id}, /users/:id, /a?token=hunter2, https://host/b, /c//d, /users/me, /users/:id/**, /users/*/x, /users/{id}/"
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_ENDPOINTS": text])
        #expect(configuration.endpoints == ["/users/{id}", "/users/{id}/**", "/users/{id}/"])
        #expect(
            warnings == [
                "MARTLET_ENDPOINTS=\"users/{id}\" (does not begin with a slash), \"/a\" (has a query), "
                    + "\"https://host/b\" (has a scheme), \"/c//d\" (has an empty segment), "
                    + "\"/users/me\" (comes after /users/{id}, which matches the same paths), "
                    + "\"/users/*/x\" (comes after /users/{id}/**, which matches the same paths) "
                    + "can never match; using the other templates"
            ])
    }

    @Test(arguments: [("10%", 0.1), ("0%", 0), ("100%", 1), ("2.5%", 0.025), ("0.25", 0.25), ("1", 1)])
    func sampleRateMayBeAPercentage(text: String, rate: Double) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_SAMPLE_RATE": text])
        #expect(configuration.sampleRate == rate)
        #expect(warnings == [])
    }

    @Test(arguments: ["101%", "-1%", "%", "10", "nan%"])
    func sampleRateOutsideZeroToOneGivesAWarning(text: String) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_SAMPLE_RATE": text])
        #expect(configuration.sampleRate == 0.1)
        #expect(warnings.count == 1)
    }

    /// Specification, "Tracing SDK", section "Built-in samplers": only `ParentBased` obeys the caller.
    @Test(arguments: ["always_on", "always_off", "traceidratio"])
    func onlyParentBasedSamplersObeyTheCallersFlag(name: String) {
        let variable = "OTEL_TRACES_SAMPLER"
        let found = [name, "parentbased_\(name)"].map {
            MartletConfiguration.fromEnvironment([variable: $0]).configuration
        }
        #expect(found.map(\.ignoresCallersFlag) == [true, false])
        #expect(found[0].sampleRate == found[1].sampleRate)
        let own = MartletConfiguration.fromEnvironment([variable: name, "MARTLET_SAMPLE_RATE": "0.5"]).configuration
        #expect(own.ignoresCallersFlag == false && own.sampleRate == 0.5)
    }

    @Test func endpointMayListSeveralCollectors() {
        let text = "http://a:4318, https://b/base,"
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_ENDPOINT": text])
        #expect(configuration.collectors.map(\.absoluteString) == ["http://a:4318", "https://b/base"])
        #expect(configuration.collector == configuration.collectors[0])
        #expect(warnings == [])
    }

    @Test func unreadableAddressesGiveOneWarningAndTheOthersAreUsed() {
        let text = "http://a:4318,ftp://b,http://user:hunter2@,http://c"
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_ENDPOINT": text])
        #expect(configuration.collectors.map(\.absoluteString) == ["http://a:4318", "http://c"])
        #expect(
            warnings == ["MARTLET_ENDPOINT: \"ftp://b\", (hidden) cannot be read; using the other addresses"])
    }

    @Test func listWithoutAnAddressMeansTheDefault() {
        var configuration = MartletConfiguration()
        configuration.collectors = []
        #expect(configuration.collectors == MartletConfiguration().collectors)
    }

    @Test(arguments: [
        ("tracecontext,baggage", true), ("b3, TraceContext", true), ("none", false), ("b3", false),
    ])
    func propagationFollowsTheSpecificationsPropagators(text: String, propagates: Bool) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["OTEL_PROPAGATORS": text])
        #expect(configuration.propagate == propagates)
        #expect(warnings == [])
        let own = MartletConfiguration.fromEnvironment(["OTEL_PROPAGATORS": text, "MARTLET_PROPAGATE": "true"])
        #expect(own.configuration.propagate)
    }

    @Test(arguments: [("cumulative", MartletConfiguration.Temporality.cumulative), ("LowMemory", .delta), ("", .delta)])
    func temporalityFollowsTheSpecificationsPreference(text: String, temporality: MartletConfiguration.Temporality) {
        let variable = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
        let (configuration, warnings) = MartletConfiguration.fromEnvironment([variable: text])
        #expect(configuration.temporality == temporality)
        #expect(warnings == [])
        let own = MartletConfiguration.fromEnvironment([variable: text, "MARTLET_TEMPORALITY": "delta"])
        #expect(own.configuration.temporality == .delta)
    }

    @Test(arguments: [
        ("none", CapturedHeaders.none), ("ALL", .all), ("X-Request-ID, via", .named(["x-request-id", "via"])),
    ])
    func capturedHeadersAreNamesAllOrNone(text: String, headers: CapturedHeaders) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_CAPTURE_HEADERS": text])
        #expect(configuration.captureHeaders == headers)
        #expect(warnings == [])
    }

    @Test(arguments: ["0", "0%", "-1%", "101%", "2", "nan", "2 %%"])
    func impossibleCPUShareKeepsTheDefault(text: String) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_MAX_CPU": text])
        #expect(configuration.maxCPU == 0.05)
        #expect(warnings.count == 1)
    }

    @Test(arguments: ["MARTLET_BODY_LIMIT": "2MiB", "MARTLET_MAX_MEMORY": "0", "MARTLET_HUNG": "0"])
    func valueBeyondALimitKeepsTheDefault(variable: String, value: String) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment([variable: value])
        #expect(Self.properties(of: configuration) == Self.properties(of: MartletConfiguration()))
        #expect(warnings.count == 1)
    }

    @Test func settingsInCodeAreKeptWithinTheLimits() {
        var configuration = MartletConfiguration()
        configuration.bodyLimit = .max
        #expect(configuration.bodyLimit == 1 << 20)
        configuration.bodyLimit = -1
        #expect(configuration.bodyLimit == 0)
        configuration.hung = .zero
        #expect(configuration.hung == .milliseconds(100))
        configuration.captureHeaders = .named(["X-Request-ID"])
        #expect(configuration.captureHeaders == .named(["x-request-id"]))
    }

    @Test func unknownVariableGivesAWarning() {
        let warnings = MartletConfiguration.fromEnvironment(["MARTLET_SAMPLERATE": "1", "MARTLET_COLLECTOR_PORT": "1"])
            .warnings
        #expect(warnings == ["MARTLET_SAMPLERATE is not a variable of Martlet; check its spelling"])
    }

    @Test(arguments: ["-1", "1e400", "nan", "64QB", "MiB", "0x10", "9999999999GiB"])
    func invalidSizeKeepsTheDefault(text: String) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_BUFFER_MAX": text])
        #expect(configuration.bufferMax == 64 << 20)
        #expect(warnings.count == 1)
    }

    @Test(arguments: ["-1s", "0", "1ms", "2y", "nan", "1e999", "10 parsecs"])
    func impossibleIntervalKeepsTheDefault(text: String) {
        let (configuration, warnings) = MartletConfiguration.fromEnvironment(["MARTLET_INTERVAL": text])
        #expect(configuration.interval == .seconds(10))
        #expect(warnings.count == 1)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
    func intervalSetInCodeIsAtLeastTheShortest(interval: Duration) {
        var configuration = MartletConfiguration()
        configuration.interval = interval
        configuration.exportTimeout = interval
        #expect(configuration.interval == .milliseconds(100))
        #expect(configuration.exportTimeout == .milliseconds(100))
    }

    private static func properties(of configuration: MartletConfiguration) -> String {
        String(describing: configuration)
    }
}
