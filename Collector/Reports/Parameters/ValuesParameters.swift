import MartletStorage
import MartletTelemetry

/// The flags of a question for the values of a dimension.
package typealias ValuesParameters = Parameters<ValuesParameter>

extension Parameters<ValuesParameter> {
    package func query(of dimension: Dimension, now: UnixNanoseconds) throws(ParameterError) -> ValuesQuery {
        ValuesQuery(
            dimension, window: try window(now: now), filter: try filter(),
            limit: try number(.limit, of: "values", upTo: ValuesParameter.maxLimit) ?? ValuesParameter.maxLimit)
    }
}
