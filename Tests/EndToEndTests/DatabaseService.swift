import Fixtures
import Foundation
import MartletTelemetry
import Testing

/// `database_service.py` at its end.
enum DatabaseService {
    enum Signals: String { case spans, metrics }

    /// Values of `OTEL_SEMCONV_STABILITY_OPT_IN`.
    enum Conventions: String, CaseIterable {
        case old = ""
        case stable = "database"
        case both = "database/dup"
    }

    struct Counted: Decodable {
        /// The address of PostgreSQL.
        let host: String
        let statements: [Statement]
    }

    struct Statement: Decodable {
        /// As PostgreSQL keeps it, with a number in place of each literal. As the service wrote it if it failed.
        let query: String
        let calls: UInt64
        /// The name of the exception's class in `psycopg.errors`; `nil` for what PostgreSQL executed to its end.
        let error: String?

        func shape() throws -> StatementShape { try #require(StatementShape(query, system: "postgresql")) }
    }

    /// Whether `scripts/setup.sh verify` could install everything.
    static var isPossible: Bool {
        let files = FileManager.default
        let versions = (try? files.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let libraries = Repository.path(".build/python/lib")
        let pythons = (try? files.contentsOfDirectory(atPath: libraries)) ?? []
        return versions.contains { files.isExecutableFile(atPath: "/usr/lib/postgresql/\($0)/bin/postgres") }
            && pythons.contains {
                files.fileExists(atPath: "\(libraries)/\($0)/site-packages/opentelemetry/instrumentation/psycopg")
            }
    }

    /// Runs the service to its end. The collector then has all its telemetry.
    static func run(
        _ signals: Signals, _ conventions: Conventions, collector: String, in folder: TemporaryFolder
    ) async throws -> Counted {
        let program = try ChildProcess(
            .testPython,
            [Repository.path("Tests/EndToEndTests/database_service.py"), signals.rawValue, folder.url.path],
            environment: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_SEMCONV_STABILITY_OPT_IN": conventions.rawValue,
                "PATH": ChildProcess.Program.path,
            ])
        let (status, output, errors) = await program.finish()
        guard status == 0 else { throw ChildProcess.Failure(output: errors) }
        return try JSONDecoder().decode(Counted.self, from: Data(output.utf8))
    }
}
