import Foundation
import Hummingbird
import Synchronization

/// This service's own count of its answers, for comparison with a report.
final class AccessLog: RouterMiddleware {
    private struct Answer: Hashable, Encodable {
        var method: String
        var route: String
        var status: Int
    }

    private struct State {
        var counts: [Answer: Int] = [:]
        var file: FileHandle?
    }

    private let state: Mutex<State>

    init(path: String?) throws {
        state = Mutex(State(file: try path.map(Self.openForAppending)))
    }

    /// One line of JSON for each method, route and status, with its count.
    var counts: String {
        let counts = state.withLock { $0.counts }
        return counts.map { #"{"count":\#($1),"answer":\#(Self.json($0))}"# + "\n" }.sorted().joined()
    }

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            let response = try await next(request, context)
            record(request, context, response.status)
            return response
        } catch {
            record(request, context, (error as? any HTTPResponseError)?.status ?? .internalServerError)
            throw error
        }
    }

    private func record(_ request: Request, _ context: BasicRequestContext, _ status: HTTPResponse.Status) {
        let answer = Answer(
            method: request.method.rawValue, route: context.endpointPath ?? "none", status: status.code)
        let line = Data((Self.json(answer) + "\n").utf8)
        state.withLock {
            $0.counts[answer, default: 0] += 1
            try? $0.file?.write(contentsOf: line)
        }
    }

    private static func json(_ answer: Answer) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(answer)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private static func openForAppending(_ path: String) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: path) {
            try Data().write(to: URL(filePath: path))
        }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        return file
    }
}
