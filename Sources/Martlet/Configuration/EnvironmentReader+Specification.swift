/// The variables of the OpenTelemetry specification, for the variables of Martlet that are unset.
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
            fallback("OTEL_TRACES_SAMPLER_ARG", unless: own, default: "\(rate)", as: EnvironmentValue.ratio)
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
