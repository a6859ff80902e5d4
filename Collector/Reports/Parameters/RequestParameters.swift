/// The name of a parameter of one request.
package enum RequestParameter: String, ParameterName {
    case format

    package enum Format: String, CaseIterable, Sendable {
        case json
        /// ``RequestHAR``
        case har
    }
}

/// The parameters of one request.
package typealias RequestParameters = Parameters<RequestParameter>

extension Parameters<RequestParameter> {
    package func format() throws(ParameterError) -> RequestParameter.Format { try choice(.format) ?? .json }
}
