/// The kind of telemetry that a batch carries.
package enum Signal: String, Sendable, Hashable, CaseIterable {
    case metrics
    case traces
}
