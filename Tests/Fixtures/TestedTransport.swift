import Foundation

/// The transport of the tests' agents: `MARTLET_TRANSPORT` of the tests' own process, so that a suite is run again
/// for each.
package enum TestedTransport {
    private static let name = ProcessInfo.processInfo.environment["MARTLET_TRANSPORT"]

    /// For the environment of a service.
    package static let environment = name.map { ["MARTLET_TRANSPORT": $0] } ?? [:]

    /// Before Swift 6.4 `URLSession` ends the process where an answer ends within its head.
    package static let survivesCutHead: Bool = {
        #if compiler(>=6.4)
        true
        #else
        name?.lowercased() != "urlsession"
        #endif
    }()
}
