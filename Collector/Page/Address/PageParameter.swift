import MartletReports
import MartletStorage

/// The names of the parameters of views. Those that a report or a list of requests has as well mean the same there.
package enum PageParameter: String, WindowParameterName {
    case since, until
    case service, environment, kind, method, host, endpoint, status, error, rule, version, instance
    case compare
    case sort, ascending, top
    case failed
    case slowerThan = "slower-than"
    case fasterThan = "faster-than"
    case search, before, limit
    /// `on` for the live tail of the requests.
    case live
    /// The number of kept requests and spans that were deleted just now.
    case cleared
    /// `off` keeps the page from asking again by itself.
    case refresh

    /// The name of the parameters by which a form tells its fields that select everything if they are empty. In an address an empty
    /// value selects requests without one.
    static let emptyFields = "any"
    /// The value by which such a field selects requests without one.
    static let noValue = "(none)"

    /// The parameters that a view hands on to the next: the window, and the senders that a person looks at.
    static let scope: [PageParameter] = [.since, .until, .environment, .service, .refresh]
}

/// The parameters of a view.
package typealias PageParameters = Parameters<PageParameter>
