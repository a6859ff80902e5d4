import MartletStorage

/// The names of the flags of a report.
package enum ReportParameter: String, WindowParameterName {
    case since, until
    case service, environment, kind, method, host, endpoint, status, error, rule, version, instance
    case by, sort, ascending, top, step, compare

    package static let defaultBy: [Dimension] = [.service, .kind, .method, .host, .endpoint]

    package var isSwitch: Bool { self == .ascending }

    package var isRepeatable: Bool { self == .by || filteredDimension != nil }
}
