import MartletStorage
import MartletTelemetry

/// The buckets of all requests of each kind, added up beside groups that have none. The groups of an hour have thousands of
/// sketches, and these few stay in the processor's caches.
struct TotalBuckets {
    private var clients = RequestGroup(values: [])
    private var servers = RequestGroup(values: [])

    var totals: [RequestKind: RequestGroup] { [.client: clients, .server: servers] }

    mutating func add(_ point: EntryReader, _ requests: RequestClass) {
        switch requests.kind {
        case .client: clients.add(requests) { point.add(to: &$0) }
        case .server: servers.add(requests) { point.add(to: &$0) }
        }
    }

    /// Adds the buckets of a group.
    mutating func add(_ group: RequestGroup, _ kind: RequestKind) {
        switch kind {
        case .client: clients.merge(group)
        case .server: servers.merge(group)
        }
    }
}
