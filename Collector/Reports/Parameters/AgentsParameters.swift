import MartletTelemetry

/// The flags of the list of senders.
package typealias AgentsParameters = Parameters<AgentsParameter>

extension Parameters<AgentsParameter> {
    /// Returns the time limit of the list: senders that were last seen before it are left out.
    package func since(now: UnixNanoseconds) throws(ParameterError) -> UnixNanoseconds {
        let since = try time(.since, default: AgentsParameter.defaultSince, now: now)
        guard since <= now else { throw ParameterError("since must not be in the future") }
        return since
    }
}
