import MartletReports
import MartletStorage
import MartletTelemetry

/// The facts that every view shows around its own: whether its figures can be trusted, and the senders to choose from.
struct PageFacts: Sendable {
    /// Choices of a list at most. A person finds a name among more by typing it into the address.
    private static let maxChoices = 200
    /// The time after which data counts as old.
    private static let freshness: UInt64 = 30_000_000_000

    /// `nil` if no agent reported on the window.
    var completeness: Double?
    /// The latest time that the collector stored something, by its own clock; `nil` if it never did in the window or the day.
    var latest: UnixNanoseconds?
    var environments: [String]
    var services: [String]
    /// The chosen environment and service, if nobody has these names.
    var unseen: [PageParameter: EmptyAnswer.Names] = [:]

    init(_ visit: Visit, in storage: some Storage) async throws {
        let day: UInt64 = 86_400_000_000_000
        let since = min(visit.window.from, visit.now - min(visit.now, day))
        completeness = try await storage.account(in: visit.window, visit.filter).completeness
        latest = try await storage.agents(seenSince: since, limit: 1).agents.first?.lastSeen
        let choices = TimeWindow(from: since, to: visit.now)
        environments = try await storage.values(
            ValuesQuery(.environment, window: choices, limit: Self.maxChoices)
        ).values
        services = try await storage.values(ValuesQuery(.service, window: choices, limit: Self.maxChoices)).values
        for (name, seen) in [(PageParameter.environment, environments), (.service, services)] {
            unseen[name] = try await EmptyState.unknown(name, notIn: seen, visit, in: storage)
        }
    }

    func isOld(at now: UnixNanoseconds) -> Bool {
        latest.map { now > $0 && now - $0 > Self.freshness } ?? true
    }
}
