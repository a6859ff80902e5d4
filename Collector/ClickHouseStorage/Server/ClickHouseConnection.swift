import AsyncHTTPClient
import Foundation
import MartletOTLP
import MartletStorage
import NIOCore
import NIOHTTP1

/// Requests to the HTTP interface of ClickHouse. Safe to use from any task.
///
/// All requests may be carried out twice: rows that come again replace themselves (docs/clickhouse.md). So a request without
/// an answer is repeated at the next server.
final class ClickHouseConnection: Sendable {
    /// Bytes of an answer at most.
    private static let maxAnswer = 256 << 20
    /// Bytes of an answer that ClickHouse holds in memory until the statement has ended. Without it each answer is a file, for which a
    /// full disk has no room.
    private static let maxHeldAnswer = 64 << 20
    let location: ClickHouseLocation
    private let credentials: ClickHouseCredentials
    private let timeout: TimeAmount
    private let http: HTTPClient

    /// - Parameter timeout: the time limit of a request, in seconds.
    init(_ location: ClickHouseLocation, _ credentials: ClickHouseCredentials, timeout: Double) {
        self.location = location
        self.credentials = credentials
        self.timeout = .milliseconds(Int64(timeout * 1000))
        var configuration = HTTPClient.Configuration()
        // A server that is away is left for the next one at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(3)
        // The time limit of a request ends with the head of its answer.
        configuration.timeout.read = self.timeout
        // ClickHouse closes idle connections after 3 s by default (`keep_alive_timeout`).
        configuration.connectionPool.idleTimeout = .seconds(2)
        configuration.redirectConfiguration = .disallow
        configuration.tlsConfiguration = credentials.tls
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit { http.shutdown { _ in } }

    /// Runs a statement and returns the bytes of its answer.
    ///
    /// - Parameters:
    ///   - sql: the statement; one that inserts takes its rows from `rows`.
    ///   - isInDatabase: `false` before the database exists.
    ///   - settings: settings of ClickHouse for this statement.
    func run(
        _ sql: String, rows: [UInt8]? = nil, isInDatabase: Bool = true, settings: [(String, String)] = []
    ) async throws -> [UInt8] {
        var query = settings + [("wait_end_of_query", "1"), ("buffer_size", "\(Self.maxHeldAnswer)")]
        if isInDatabase { query.append(("database", location.database)) }
        var body = ByteBuffer(string: sql)
        if let rows {
            query.append(("query", sql))
            body = ByteBuffer(bytes: try Gzip.compress(rows))
        }
        let path = "/?" + query.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        var failure: (any Error)?
        var slow: Set<String> = []
        // The first server gets a second chance: it may have closed the connection that the request was sent on.
        for server in location.servers + location.servers.prefix(1) where !slow.contains(server) {
            do {
                return try await answer(of: server, path, body, isCompressed: rows != nil)
            } catch let error as ClickHouseError {
                throw error
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                if let error = error as? HTTPClientError, error == .deadlineExceeded || error == .readTimeout {
                    slow.insert(server)
                }
                failure = ClickHouseError.noAnswer("\(server): \(error)")
            }
        }
        throw failure ?? ClickHouseError.noAnswer("none is named")
    }

    private func answer(
        of server: String, _ path: String, _ body: ByteBuffer, isCompressed: Bool
    ) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: server + path)
        request.method = .POST
        request.body = .bytes(body)
        if isCompressed { request.headers.add(name: "Content-Encoding", value: "gzip") }
        if let user = credentials.user { request.headers.add(name: "X-ClickHouse-User", value: user) }
        if let password = credentials.password { request.headers.add(name: "X-ClickHouse-Key", value: password) }
        let response = try await http.execute(request, timeout: timeout)
        let answer = try await response.body.collect(upTo: Self.maxAnswer)
        guard response.status == .ok else { throw ClickHouseError(answer: String(buffer: answer)) }
        return [UInt8](answer.readableBytesView)
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
