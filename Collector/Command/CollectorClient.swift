import Foundation
import MartletReports

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks a collector over HTTP.
struct CollectorClient {
    let url: URL
    let token: String?

    /// Seconds; a report over a long time takes a while to compute.
    private static let timeout = 60.0

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    func get<Answer: Decodable>(_ path: String, _ query: [(String, String)] = []) async throws -> Answer {
        let (body, status) = try await answer(to: try request(path, query))
        guard status == 200 else { throw Self.failure(status: status, body: body) }
        do {
            return try ReportJSON.value(of: Answer.self, in: body)
        } catch {
            throw Failure(description: "\(url.absoluteString) does not answer like a Martlet collector")
        }
    }

    private func request(_ path: String, _ query: [(String, String)]) throws -> URLRequest {
        guard var components = URLComponents(url: url.appendingPathComponent(path), resolvingAgainstBaseURL: false)
        else { throw Failure(description: "\(url.absoluteString) is no address of a collector") }
        // Encoded by hand: URLComponents leaves `+` and `;`, which servers read in different ways.
        components.percentEncodedQuery =
            query.isEmpty ? nil : query.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        guard let url = components.url else { throw Failure(description: "a parameter cannot be sent") }
        var request = URLRequest(url: url, timeoutInterval: Self.timeout)
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return request
    }

    private func answer(to request: URLRequest) async throws -> (Data, Int) {
        do {
            let (body, response) = try await URLSession.shared.data(for: request)
            return (body, (response as? HTTPURLResponse)?.statusCode ?? 0)
        } catch {
            throw Failure(
                description: "no collector answers at \(url.absoluteString): \(error.localizedDescription)")
        }
    }

    private static func encoded(_ text: String) -> String {
        // RFC 3986, section 2.3: unreserved characters.
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        return text.utf8.map { plain.contains($0) ? String(UnicodeScalar($0)) : String(format: "%%%02X", $0) }.joined()
    }

    private static func failure(status: Int, body: Data) -> any Error {
        let sentence = (try? ReportJSON.value(of: [String: String].self, in: body))?["error"]
        if status == 400, let sentence { return ParameterError(sentence) }
        return Failure(description: "the collector answers \(status)\(sentence.map { ": " + $0 } ?? "")")
    }
}
