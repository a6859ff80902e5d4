/// The instrumentation scope of everything that Martlet sends.
package enum OTLPScope {
    package static let name = "martlet"
    /// Martlet's own version, `telemetry.sdk.version`.
    package static let version = "0.1.0"

    /// The version of the semantic conventions that the names of attributes and metrics are of.
    static let schemaURL = "https://opentelemetry.io/schemas/1.27.0"

    static var message: OTLPInstrumentationScope {
        var scope = OTLPInstrumentationScope()
        scope.name = name
        scope.version = version
        return scope
    }
}
