/// The side of a request that was observed.
package enum RequestKind: String, Sendable, Hashable, CaseIterable {
    case client
    case server
}
