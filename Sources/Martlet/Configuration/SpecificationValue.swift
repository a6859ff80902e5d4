import Foundation

/// Values in the forms of the OpenTelemetry specification, where they differ from Martlet's own.
extension EnvironmentValue {
    /// `true` or `false` in any case. Another text is an error and counts as `false`.
    static func specificationBoolean(_ text: String) -> Bool? {
        ["true": true, "false": false][text.lowercased()]
    }

    /// `key=value,key=value`, percent-encoded (W3C Baggage).
    static func specificationPairs(_ text: String) -> [String: String]? {
        var pairs: [String: String] = [:]
        for item in text.split(separator: ",") {
            guard let separator = item.firstIndex(of: "="),
                let value = item[item.index(after: separator)...].removingPercentEncoding, name(value) != nil
            else { return nil }
            pairs[item[..<separator].trimmingCharacters(in: .whitespaces)] = value.trimmingCharacters(in: .whitespaces)
        }
        return pairs
    }

    /// The bearer token in a list of headers, the only one that Martlet sends.
    static func specificationBearerToken(_ text: String) -> String? {
        let header = specificationPairs(text)?.first { $0.key.lowercased() == "authorization" }
        guard let value = header?.value, value.lowercased().hasPrefix("bearer ") else { return nil }
        return token(String(value.dropFirst("bearer ".count)))
    }

    /// Whether a list of propagators has W3C Trace Context, the only one that Martlet knows.
    static func specificationPropagation(_ text: String) -> Bool? {
        let propagators = list(text.lowercased()) { !$0.isEmpty && name($0) != nil }
        return propagators?.contains("tracecontext")
    }

    /// A duration of at least ``MartletLimits/shortestInterval``: with less the agent would do nothing else.
    static func interval(_ text: String) -> Duration? {
        duration(text).flatMap(interval)
    }

    static func interval(_ duration: Duration) -> Duration? {
        duration >= MartletLimits.shortestInterval ? duration : nil
    }
}

extension EnvironmentReader {
    /// Returns the value of the specification's variable if Martlet's own is unset.
    mutating func fallback<T>(
        _ variable: String, unless own: String, default fallback: String, secret: Bool = false,
        as read: (String) -> T?
    ) -> T? {
        text(own) == nil ? value(variable, default: fallback, secret: secret, as: read) : nil
    }

    /// Returns a resource attribute if Martlet's own variable is unset.
    mutating func attribute(_ name: String, of resource: [String: String], unless own: String) -> String? {
        text(own) == nil ? resource[name] : nil
    }

    /// Returns the rate of the sampler that the specification's variables name, if Martlet's own variable is unset.
    mutating func specificationSampleRate(unless own: String) -> Double? {
        let rate = MartletConfiguration.defaultSampleRate
        let argument: Double? =
            fallback("OTEL_TRACES_SAMPLER_ARG", unless: own, default: "\(rate)", as: EnvironmentValue.share)
        return fallback("OTEL_TRACES_SAMPLER", unless: own, default: "a rate of \(rate)") { sampler in
            switch sampler.lowercased() {
            case "always_on", "parentbased_always_on": 1.0
            case "always_off", "parentbased_always_off": 0.0
            case "traceidratio", "parentbased_traceidratio": argument ?? 1.0
            default: nil
            }
        }
    }
}
