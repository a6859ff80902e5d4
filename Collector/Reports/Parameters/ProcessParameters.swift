import MartletStorage
import MartletTelemetry

/// The flags of a question about processes.
package typealias ProcessParameters = Parameters<ProcessParameter>

extension Parameters<ProcessParameter> {
    package func query(now: UnixNanoseconds) throws(ParameterError) -> ProcessQuery {
        let window = try window(now: now)
        return ProcessQuery(
            window: window, filter: try filter(), step: try step(.step) ?? TrendStep.fitting(window))
    }
}
