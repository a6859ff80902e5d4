import ArgumentParser
import Foundation
import MartletClickHouseStorage

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes the tables of a store on ClickHouse, or brings them up to this version.",
        discussion: """
            It needs a user that may create a database and tables: MARTLET_CLICKHOUSE_USER and MARTLET_CLICKHOUSE_PASSWORD. For \
            https, MARTLET_CLICKHOUSE_CERTIFICATE is a PEM file with the authorities to trust instead of the system's. \
            It may run while collectors use the store, and while a server of the cluster is away that has the tables. A file needs no \
            such step.
            """)

    @Option(help: "The store, clickhouse:http://HOST:8123/DATABASE.")
    var store: String?

    @Option(
        help: """
            A cluster of ClickHouse, by its name in the servers' configuration: the tables become replicated and spread over its \
            shards. Later runs need not name it. (default: one server)
            """)
    var cluster: String?

    func run() async throws {
        guard let text = store ?? CollectorEnvironment(ProcessInfo.processInfo.environment)["STORE"],
            case .clickHouse(let location) = try StoreLocation(text)
        else { throw ValidationError("--store must be clickhouse:http://HOST:8123/DATABASE") }
        let isComplete = try await reportingFailure {
            try await Migration.run(at: location, StoreLocation.credentials(), cluster: cluster)
        }
        Output.line("\(location) has the tables of this version")
        if !isComplete {
            Output.line("a server of the cluster is away: run this again later if it is new or lost its disk")
        }
    }
}
