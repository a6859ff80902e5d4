import ArgumentParser
import AsyncHTTPClient
import Foundation
import MartletReports
import MartletStorage
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Queries a collector over HTTP.
struct CollectorClient {
    let url: URL
    let token: String?
    let tls: TLSConfiguration?
    /// The time limit of a request. A report over a long time takes a while to compute.
    var timeout = TimeAmount.seconds(60)

    /// The maximum size of an answer in bytes. The largest report, of 20,000 rows, has some 20 MB.
    private static let maxAnswer = 256 << 20

    struct Failure: Error, CustomStringConvertible {
        var description: String
        var code = ExitCode.unavailable
        /// Whether the server has nothing at the asked address: it is no collector, or an older one.
        var isUnknownRoute = false
    }

    func get<Answer: Decodable>(_ path: String, _ query: [(String, String)] = []) async throws -> Answer {
        try await send(.GET, path, query)
    }

    func delete<Answer: Decodable>(_ path: String) async throws -> Answer { try await send(.DELETE, path, []) }

    private func send<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, _ query: [(String, String)]
    ) async throws -> Answer {
        var request = try request(path, query)
        request.method = method
        let (body, status) = try await answer(to: request)
        guard status == 200 else { throw failure(status: status, body: body) }
        do {
            return try ReportJSON.value(of: Answer.self, in: body)
        } catch {
            throw notCollector
        }
    }

    private var notCollector: Failure {
        Failure(description: "\(url.absoluteString) does not answer like a Martlet collector; check --collector")
    }

    private func request(_ path: String, _ query: [(String, String)]) throws -> HTTPClientRequest {
        guard var components = URLComponents(url: url.appendingPathComponent(path), resolvingAgainstBaseURL: false)
        else { throw Failure(description: "\(url.absoluteString) is not a valid address of a collector") }
        // The query is encoded by hand: URLComponents leaves `+` and `;` as they are, and servers read those in different ways.
        components.percentEncodedQuery =
            query.isEmpty
            ? nil
            : query.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
                .joined(separator: "&")
        guard let url = components.url else {
            throw Failure(description: "a flag has a value that cannot be sent to the collector")
        }
        var request = HTTPClientRequest(url: url.absoluteString)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        return request
    }

    private func answer(to request: HTTPClientRequest) async throws -> (Data, Int) {
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        // A missing collector is reported at once, without retries.
        configuration.connectionPool.retryConnectionEstablishment = false
        do {
            return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                let response = try await client.execute(request, timeout: timeout)
                let body = try await response.body.collect(upTo: Self.maxAnswer)
                return (Data(body.readableBytesView), Int(response.status.code))
            }
        } catch {
            let reason = ConnectionFault.reason(error, isTLS: url.scheme == "https")
            throw Failure(description: "no collector answers at \(url.absoluteString): \(reason)")
        }
    }

    private func failure(status: Int, body: Data) -> any Error {
        let sentence = (try? ReportJSON.value(of: [String: String].self, in: body))?["error"]
        // Any other text comes from a server that is not a collector.
        if status == 404, sentence == UnknownRequest.sentence {
            return Failure(description: UnknownRequest.sentence, code: .failure)
        }
        if status == 404 {
            var failure = notCollector
            failure.isUnknownRoute = true
            return failure
        }
        if status == 400, let sentence { return ParameterError(sentence) }
        return Failure(description: "the collector answers \(status)\(sentence.map { ": " + $0 } ?? "")")
    }
}

/// Explains to a user why a connection or its answer failed.
enum ConnectionFault {
    /// - Parameter isTLS: whether the collector's address begins with `https`.
    static func reason(_ error: any Error, isTLS: Bool) -> String {
        let text = "\(error)"
        switch error {
        case let error as NIOConnectionError:
            return error.connectionErrors.first.map { reason($0.error, isTLS: isTLS) } ?? "\(error.host) has no address"
        case let error as IOError:
            return String(cString: strerror(error.errnoCode))
        case let error as HTTPClientError where error == .remoteConnectionClosed && !isTLS:
            return "it closes the connection without an answer; with TLS, a collector's address begins with https://"
        case let error as HTTPClientError:
            return error.shortDescription
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            return tls(text)
        default: return text
        }
    }

    /// Explains a TLS error, which is recognized by its text.
    private static func tls(_ text: String) -> String {
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            return
                "the collector's certificate is not signed by a trusted authority; name the authority's file with --certificate"
        }
        if text.contains("failedToValidateHostname") { return "the collector's certificate is for another host name" }
        if text.contains("CERTIFICATE_REQUIRED") || text.contains("HANDSHAKE_FAILURE") {
            return "the collector requires a client certificate; give one with --client-certificate"
        }
        if text.contains("WRONG_VERSION_NUMBER") { return "it answers without TLS; its address begins with http://" }
        return text
    }
}
