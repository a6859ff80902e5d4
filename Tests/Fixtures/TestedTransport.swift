import Foundation

/// The transport of the tests' agents, from `MARTLET_TRANSPORT` of the test process. A suite runs once for each transport.
package enum TestedTransport {
    private static let name = ProcessInfo.processInfo.environment["MARTLET_TRANSPORT"]

    /// The variables to add to a service's environment.
    package static let environment = name.map { ["MARTLET_TRANSPORT": $0] } ?? [:]

    /// Whether the transport survives an answer that ends within its head. Before Swift 6.4, `URLSession` then crashes the
    /// process.
    package static let survivesCutHead: Bool = {
        #if compiler(>=6.4)
        true
        #else
        name?.lowercased() != "urlsession"
        #endif
    }()
}
