/// The names of the flags of the map. A filter by a request's own dimension would leave out one end of an edge.
package enum MapParameter: String, WindowParameterName {
    case since, until
    case service, environment
    case top
}
