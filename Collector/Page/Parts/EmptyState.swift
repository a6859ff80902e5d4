import MartletReports
import MartletStorage
import MartletTelemetry

/// The reason that a view has nothing to show.
package struct EmptyState: Sendable {
    enum Reason: Sendable, Equatable {
        case nobodyEverSent
        /// A filter asks for a name that the store does not have.
        case unknownName(EmptyAnswer.Names)
        /// The latest arrival from the senders that the filters select lies before the window: its time, by the collector's clock, and
        /// its sender.
        case earlier(UnixNanoseconds, sender: String)
        /// The window has requests, and the filters select none of them.
        case filtered
        case nothing
    }

    /// The time in which names are looked for: as long as points are kept by default.
    private static let memory: UInt64 = 400 * 86_400_000_000_000

    let visit: Visit
    let reason: Reason

    /// - Throws: the store's error.
    package init(_ visit: Visit, in storage: some Storage) async throws {
        self.visit = visit
        reason = try await Self.reason(of: visit, in: storage)
    }

    private static func reason(of visit: Visit, in storage: some Storage) async throws -> Reason {
        if try await storage.agents(seenSince: 0, limit: 1).agents.isEmpty { return .nobodyEverSent }
        if let names = try await unknown(visit, in: storage) { return .unknownName(names) }
        if let latest = try await storage.agents(seenSince: 0, visit.filter, limit: 1).agents.first,
            latest.lastSeen <= visit.window.from
        {
            return .earlier(latest.lastSeen, sender: latest.resource.service)
        }
        return visit.filters.isEmpty ? .nothing : .filtered
    }

    /// Returns the first filter with a name that the store does not have.
    static func unknown(_ visit: Visit, in storage: some Storage) async throws -> EmptyAnswer.Names? {
        for (name, wanted) in visit.filters {
            if let names = try await unknown(name, wanted, at: visit.now, in: storage) { return names }
        }
        return nil
    }

    /// Returns the one chosen value of a filter if the store does not have it.
    ///
    /// - Parameter seen: values that it has.
    static func unknown(
        _ name: PageParameter, notIn seen: [String], _ visit: Visit, in storage: some Storage
    ) async throws -> EmptyAnswer.Names? {
        let chosen = visit.parameters.all(name)
        guard let wanted = chosen.first, chosen.count == 1, !wanted.isEmpty, !seen.contains(wanted) else { return nil }
        return try await unknown(name, wanted, at: visit.now, in: storage)
    }

    private static func unknown(
        _ name: PageParameter, _ wanted: String, at now: UnixNanoseconds, in storage: some Storage
    ) async throws -> EmptyAnswer.Names? {
        guard let dimension = Dimension(rawValue: name.rawValue), EmptyAnswer.Names.dimensions.contains(dimension)
        else { return nil }
        let window = TimeWindow(from: now - min(now, memory), to: now)
        let answer = try await storage.values(ValuesQuery(dimension, window: window, limit: 1000))
        let names = EmptyAnswer.Names(dimension, wanted: wanted, values: answer.values)
        return names.isKnown || answer.isThereMore ? nil : names
    }

    /// Whether there is anything to choose from.
    var hasScope: Bool { reason != .nobodyEverSent }
}

extension Visit {
    /// The parameters that leave out requests.
    var filters: [(name: PageParameter, value: String)] {
        parameters.values.filter {
            Dimension(rawValue: $0.name.rawValue) != nil
                || [.failed, .slowerThan, .fasterThan, .search].contains($0.name)
        }
    }

    /// Returns the view's own address without one of its filters.
    func address(without filter: (name: PageParameter, value: String)) -> PageAddress {
        parameters.values.filter { $0 != filter && $0.name != .before }.reduce(base) { $0.adding($1.name, $1.value) }
    }

    /// The window in words, such as `in the last 15 min`.
    var windowInWords: String {
        let since = parameters[.since] ?? PageParameter.defaultSince
        if parameters[.until] == nil, let length = TimeText.nanoseconds(since) {
            return "in the last \(FigureText.age(length / 1_000_000_000))"
        }
        return "from \(TimeText.format(window.from)) to \(TimeText.format(window.to))"
    }
}
