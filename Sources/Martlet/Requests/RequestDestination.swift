import Foundation

/// A request's target as its instrument has it. A URL becomes a ``RequestTarget`` when the request is folded into the
/// statistics, away from the thread that made it, or earlier where a pattern needs it.
enum RequestDestination: Sendable {
    case url(URL)
    case target(RequestTarget)

    var url: URL? {
        if case .url(let url) = self { url } else { nil }
    }

    var target: RequestTarget {
        switch self {
        case .url(let url): RequestTarget(url)
        case .target(let target): target
        }
    }
}
