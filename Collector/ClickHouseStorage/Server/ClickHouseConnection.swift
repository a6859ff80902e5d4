import AsyncHTTPClient
import Foundation
import MartletOTLP
import MartletStorage
import NIOCore
import NIOHTTP1

/// Sends requests to the HTTP interface of ClickHouse. Safe to use from any task.
///
/// Every request may run twice, because repeated rows replace themselves (docs/internals/clickhouse.md). So an unanswered
/// request is sent to the next server, except a read that took too long: it would take as long there.
final class ClickHouseConnection: Sendable {
    /// The largest answer, in bytes.
    private static let maxAnswer = 256 << 20
    /// The most bytes of an answer that ClickHouse buffers in memory until the statement has ended. Without this buffer, it
    /// would write each answer to a file first.
    private static let maxHeldAnswer = 64 << 20
    let location: ClickHouseLocation
    private let credentials: ClickHouseCredentials
    private let timeout: TimeAmount
    /// How much longer the answer to a read may take than ClickHouse runs it, so that ClickHouse's own refusal arrives.
    private static let grace = TimeAmount.seconds(2)
    private let http: HTTPClient

    /// - Parameter timeout: the time limit of a request, in seconds.
    init(_ location: ClickHouseLocation, _ credentials: ClickHouseCredentials, timeout: Double) {
        self.location = location
        self.credentials = credentials
        self.timeout = .milliseconds(Int64(timeout * 1000))
        var configuration = HTTPClient.Configuration()
        // If a server cannot be reached, the next one is tried at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(3)
        // The time limit of a request covers only the wait for the head of its answer.
        configuration.timeout.read = self.timeout + Self.grace
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
    ///   - sql: the statement. An insert takes its rows from `rows`.
    ///   - isInDatabase: `false` before the database exists.
    ///   - settings: settings of ClickHouse for this statement.
    func run(
        _ sql: String, rows: [UInt8]? = nil, isInDatabase: Bool = true, settings: [(String, String)]
    ) async throws -> [UInt8] {
        var settings = settings
        var body = ByteBuffer(string: sql)
        if let rows {
            settings.append(("query", sql))
            body = ByteBuffer(bytes: try Gzip.compress(rows))
        }
        let path = path(isInDatabase, settings)
        var slow: Set<String> = []
        return try await trying { server in
            guard !slow.contains(server) else { return nil }
            do {
                return try await answer(of: server, path, body, isCompressed: rows != nil, within: timeout)
            } catch let error as HTTPClientError where error.isTimeout {
                slow.insert(server)
                throw error
            }
        }
    }

    /// Runs a SELECT and returns the bytes of its answer. A statement that is not wanted any more, because it took too long or its
    /// task was cancelled, is ended in ClickHouse too.
    ///
    /// - Throws: ``ReadTimeout`` if it takes longer than the time limit.
    func read(_ sql: String, isInDatabase: Bool = true, settings: [(String, String)]) async throws -> [UInt8] {
        let id = "martlet-\(UUID().uuidString)"
        let seconds = max(1, timeout.nanoseconds / 1_000_000_000)
        let path = path(
            isInDatabase, settings + [("query_id", id), ("max_execution_time", "\(seconds)")])
        let body = ByteBuffer(string: sql)
        return try await trying { server in
            do {
                return try await answer(of: server, path, body, isCompressed: false, within: timeout + Self.grace)
            } catch let error as ClickHouseError where error.isTimeout {
                throw ReadTimeout(seconds: Double(seconds))
            } catch let error as HTTPClientError where error.isTimeout {
                kill(id, at: server)
                throw ReadTimeout(seconds: Double(seconds))
            } catch  where Task.isCancelled {
                kill(id, at: server)
                throw CancellationError()
            }
        }
    }

    /// Ends a statement. The request goes on if the caller's task is cancelled.
    private func kill(_ id: String, at server: String) {
        let path = path(false, [])
        Task {
            let sql = ByteBuffer(string: "KILL QUERY WHERE query_id = '\(id)' ASYNC")
            _ = try? await answer(of: server, path, sql, isCompressed: false, within: .seconds(5))
        }
    }

    /// Sends a request to one server after the other until one answers. The first gets a second chance, because it may have closed
    /// the connection that the request used.
    ///
    /// - Parameter ask: returns `nil` for a server that need not be asked again.
    private func trying(_ ask: (_ server: String) async throws -> [UInt8]?) async throws -> [UInt8] {
        var failure: (any Error)?
        for server in location.servers + location.servers.prefix(1) {
            do {
                if let answer = try await ask(server) { return answer }
            } catch  where error is ClickHouseError || error is ReadTimeout || error is CancellationError {
                throw error
            } catch {
                failure = ClickHouseError.noAnswer("\(server): \(error)")
            }
        }
        throw failure ?? ClickHouseError.noAnswer("none is named")
    }

    private func path(_ isInDatabase: Bool, _ settings: [(String, String)]) -> String {
        var query = settings + [("wait_end_of_query", "1"), ("buffer_size", "\(Self.maxHeldAnswer)")]
        if isInDatabase { query.append(("database", location.database)) }
        return "/?" + query.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
    }

    private func answer(
        of server: String, _ path: String, _ body: ByteBuffer, isCompressed: Bool, within limit: TimeAmount
    ) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: server + path)
        request.method = .POST
        request.body = .bytes(body)
        if isCompressed { request.headers.add(name: "Content-Encoding", value: "gzip") }
        if let user = credentials.user { request.headers.add(name: "X-ClickHouse-User", value: user) }
        if let password = credentials.password { request.headers.add(name: "X-ClickHouse-Key", value: password) }
        let response = try await http.execute(request, timeout: limit)
        let answer = try await response.body.collect(upTo: Self.maxAnswer)
        guard response.status == .ok else { throw ClickHouseError(answer: String(buffer: answer)) }
        return [UInt8](answer.readableBytesView)
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

extension HTTPClientError {
    fileprivate var isTimeout: Bool { self == .deadlineExceeded || self == .readTimeout }
}

/// The failure of a request to ClickHouse, in one sentence.
package enum ClickHouseError: Error, CustomStringConvertible {
    /// No server answered in time. The request may have been carried out.
    case noAnswer(String)
    /// A server refused the request. Part of the request may have been carried out.
    case refused(code: Int?, String)
    /// The answer does not have the requested form. The text says why.
    case malformed(String)

    /// Whether ClickHouse refused an insert because another insert is waiting for its replicas
    /// (UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE).
    var isBehindAnotherInsert: Bool {
        if case .refused(code: 286, _) = self { true } else { false }
    }

    /// Whether the statement took longer than `max_execution_time`, or some servers of a cluster did not carry out an `ON CLUSTER`
    /// statement in time (TIMEOUT_EXCEEDED).
    var isTimeout: Bool {
        if case .refused(code: 159, _) = self { true } else { false }
    }

    /// Whether no server answered.
    package var isAway: Bool {
        if case .noAnswer = self { true } else { false }
    }

    /// The failure without host names and ClickHouse's own text, so that anyone may read it.
    var summary: String {
        switch self {
        case .noAnswer: "no server answers"
        case .refused(let code, _): code.map { "it refuses an insert with code \($0)" } ?? "it refuses an insert"
        case .malformed: "its answer cannot be read"
        }
    }

    package var description: String {
        switch self {
        case .noAnswer(let reason): "no ClickHouse server answers: \(reason)"
        case .refused(_, let text): "ClickHouse refuses: \(text)"
        case .malformed(let reason): "ClickHouse's answer cannot be read: \(reason)"
        }
    }

    /// Reads an answer such as `Code: 60, e.displayText() = DB::Exception: Table martlet.point doesn't exist., e.what() = …`.
    init(answer: String) {
        let code = answer.hasPrefix("Code: ") ? Int(answer.dropFirst(6).prefix { $0.isNumber }) : nil
        let end = answer.range(of: ", e.what()")?.lowerBound ?? answer.endIndex
        let line = answer[..<end].prefix { !$0.isNewline }
        self = .refused(code: code, String(line.prefix(400)))
    }
}
