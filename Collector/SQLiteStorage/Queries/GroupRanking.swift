import MartletStorage
import MartletTelemetry

/// The order of the groups of a query with a limit, and all its requests of each kind, as a first pass over its points finds them. A
/// second pass adds up the groups that the limit leaves. All groups of an hour would have thousands of sketches; these few figures stay
/// in the processor's caches.
struct GroupRanking {
    /// The figures of each group, in the order in which the groups were met.
    private(set) var figures: [RankFigures] = []
    private var clients = RequestGroup(values: [])
    private var servers = RequestGroup(values: [])

    var totals: [RequestKind: RequestGroup] { [.client: clients, .server: servers] }

    /// Takes groups that have been added up.
    ///
    /// - Parameter kind: returns the kind of a group's requests.
    init(of groups: [RequestGroup], kind: (RequestGroup) -> RequestKind?) {
        figures = groups.map(RankFigures.init)
        for group in groups {
            switch kind(group) {
            case .client: clients.merge(group)
            case .server: servers.merge(group)
            case nil: continue
            }
        }
    }

    /// Makes room for groups that were met.
    mutating func grow(to count: Int) {
        while figures.count < count { figures.append(RankFigures()) }
    }

    /// Adds a point of a group.
    ///
    /// - Parameters:
    ///   - point: has read it.
    ///   - end: the end of its interval.
    mutating func add(_ point: EntryReader, to target: SeriesTarget, until end: UnixNanoseconds) {
        point.add(to: &figures[target.group], isFailure: target.requests.isFailure)
        switch target.requests.kind {
        case .client: clients.add(target.requests, until: end) { point.add(to: &$0) }
        case .server: servers.add(target.requests, until: end) { point.add(to: &$0) }
        }
    }
}
