import ArgumentParser
import MartletFindings
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

    /// Asks the collector at an address below `api/v1`, or reads the store if the flags name one.
    func answer<Answer: Decodable>(
        _ path: String, _ query: [(String, String)] = [], _ read: (any Storage) async throws -> Answer
    ) async throws -> Answer {
        guard let store else { return try await options.client().get("api/v1/\(path)", query) }
        return try await read(try await StoreLocation(store).openForReading())
    }
}

/// Answers from the collector or from the store's file.
extension SourceOptions {
    func report(_ parameters: ReportParameters) async throws -> Report {
        let now = SystemClock.now()
        _ = try parameters.comparison(of: try parameters.query(now: now))
        return try await answer("report", parameters.query) { try await $0.report(parameters, now: now) }
    }

    func requests(_ parameters: RequestsParameters) async throws -> RequestsReport {
        let query = try parameters.query(now: SystemClock.now())
        return try await answer("requests", parameters.query) {
            RequestsReport(try await $0.requests(query), for: query)
        }
    }

    func map(_ parameters: MapParameters) async throws -> MapReport {
        let now = SystemClock.now()
        _ = try parameters.query(now: now)
        return try await answer("map", parameters.query) { try await $0.map(parameters, now: now) }
    }

    /// A store has no detector: this judges the three hours before the window's end again. Earlier findings are those that the
    /// store keeps.
    func findings(_ parameters: FindingsParameters) async throws -> FindingsReport {
        let question = try parameters.question(now: SystemClock.now())
        return try await answer("findings", parameters.query) { storage in
            let watch = FleetWatch(of: storage)
            try await watch.tick(now: FleetWatch.timeOfTick(for: question.window))
            return await watch.report(question)
        }
    }

    func agents(_ parameters: AgentsParameters) async throws -> AgentsReport {
        let now = SystemClock.now()
        _ = try parameters.since(now: now)
        return try await answer("agents", parameters.query) { try await $0.agents(parameters, now: now) }
    }
}
