import ArgumentParser
import Foundation
import MartletClickHouseStorage
import MartletSQLiteStorage
import MartletStorage

/// The flag `--store sqlite:PATH`, or `--store clickhouse:http://HOST:8123/DATABASE`.
enum StoreLocation {
    case sqlite(path: String)
    case clickHouse(ClickHouseLocation)

    private static let (file, server) = ("sqlite:", "clickhouse:")

    init(_ text: String) throws {
        if text.hasPrefix(Self.file), text.count > Self.file.count {
            self = .sqlite(path: String(text.dropFirst(Self.file.count)))
        } else if text.hasPrefix(Self.server), text.count > Self.server.count {
            do {
                self = .clickHouse(try ClickHouseLocation(String(text.dropFirst(Self.server.count))))
            } catch {
                throw ValidationError("--store: \(error)")
            }
        } else {
            throw ValidationError("--store must be sqlite:PATH or clickhouse:http://HOST:8123/DATABASE")
        }
    }

    /// Returns the path of a store that is a file, for a command that works only on files.
    static func path(_ text: String) throws -> String {
        guard case .sqlite(let path) = try StoreLocation(text) else {
            throw ValidationError("this command works on a store sqlite:PATH; for ClickHouse, use its own commands")
        }
        return path
    }

    /// Opens the store for reading.
    func openForReading() async throws -> any Storage {
        switch self {
        case .sqlite(let path): try SQLiteStorage(readingFrom: path)
        case .clickHouse(let location):
            try await ClickHouseStorage(at: location, Self.credentials(), now: SystemClock.now)
        }
    }

    /// Returns the user and password for ClickHouse, and the authorities of `MARTLET_CLICKHOUSE_CERTIFICATE`.
    static func credentials() throws -> ClickHouseCredentials {
        let environment = ProcessInfo.processInfo.environment
        return ClickHouseCredentials(environment, tls: try ClientTLS.ofClickHouse(environment))
    }

    /// Returns the default path of the store, in the state directory of the XDG Base Directory Specification.
    static func defaultPath() -> String {
        let given = ProcessInfo.processInfo.environment["XDG_STATE_HOME"] ?? ""
        // The specification says to ignore a relative path.
        let state = given.hasPrefix("/") ? given : NSHomeDirectory() + "/.local/state"
        return state + "/martlet/collector.sqlite"
    }
}
