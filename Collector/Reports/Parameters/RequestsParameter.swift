import MartletStorage

/// The names of the flags of the list of kept requests.
package enum RequestsParameter: String, WindowParameterName {
    case since, until
    case service, environment, kind, method, host, endpoint, status, error, rule, version, instance
    case failed
    case slowerThan = "slower-than"
    case fasterThan = "faster-than"
    case search, sort, ascending, before, limit

    package var isSwitch: Bool { [.failed, .ascending].contains(self) }

    package static let defaultLimit = 20
    static let maxLimit = 1000
}
