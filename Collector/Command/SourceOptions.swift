import ArgumentParser
import MartletReports
import MartletStorage
import MartletTelemetry

/// The source of an answer: a collector or a store.
struct SourceOptions: ParsableArguments {
    @OptionGroup var options: ClientOptions

    @Option(help: "Read the store, sqlite:PATH or clickhouse:http://HOST:8123/DATABASE, instead of asking a collector.")
    var store: String?

    /// The flags that the user gave, for a command to copy. They never include the token.
    var flags: [CommandFlag] { options.flags + (store.map { [CommandFlag("store", $0)] } ?? []) }

    /// Opens the store, or returns `nil` if the command queries a collector.
    func openStore() async throws -> (any Storage)? {
        guard let store else { return nil }
        return try await StoreLocation(store).openForReading()
    }

    func client() throws -> CollectorClient { try options.client() }
}

/// Answers from the collector or from the store's file.
extension SourceOptions {
    func report(_ parameters: ReportParameters) async throws -> Report {
        let now = SystemClock.now()
        _ = try parameters.comparison(of: try parameters.query(now: now))
        guard let store = try await openStore() else {
            return try await client().get("api/v1/report", parameters.query)
        }
        return try await store.report(parameters, now: now)
    }

    func requests(_ parameters: RequestsParameters) async throws -> RequestsReport {
        let query = try parameters.query(now: SystemClock.now())
        guard let store = try await openStore() else {
            return try await client().get("api/v1/requests", parameters.query)
        }
        return RequestsReport(try await store.requests(query), for: query)
    }

    func map(_ parameters: MapParameters) async throws -> MapReport {
        let now = SystemClock.now()
        _ = try parameters.query(now: now)
        guard let store = try await openStore() else {
            return try await client().get("api/v1/map", parameters.query)
        }
        return try await store.map(parameters, now: now)
    }

    func agents(_ parameters: AgentsParameters) async throws -> AgentsReport {
        let now = SystemClock.now()
        _ = try parameters.since(now: now)
        guard let store = try await openStore() else {
            return try await client().get("api/v1/agents", parameters.query)
        }
        return try await store.agents(parameters, now: now)
    }
}
