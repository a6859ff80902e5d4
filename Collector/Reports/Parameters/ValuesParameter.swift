import MartletStorage

/// The names of the flags of a question for the values of a dimension.
package enum ValuesParameter: String, WindowParameterName {
    case since, until
    case service, environment, kind, method, host, endpoint, status, error, rule, version, instance
    case limit

    static let maxLimit = 1000
}
