import MartletTelemetry

/// The flags of the map.
package typealias MapParameters = Parameters<MapParameter>

extension Parameters<MapParameter> {
    package func query(now: UnixNanoseconds) throws(ParameterError) -> MapQuery {
        MapQuery(window: try window(now: now), filter: try filter(), limit: try number(.top, of: "edges"))
    }
}
