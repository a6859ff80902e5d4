import Fixtures
import Foundation
import Hummingbird
import MartletFindings
import Synchronization

@testable import MartletNotifications

/// A real server that takes webhooks. It answers 204, unless a test gives it other answers.
final class Webhook: Sendable {
    struct Post: Sendable {
        let body: String
        let headers: HTTPFields
        /// The status that it was answered with.
        let status: Int

        /// The text for people.
        var text: String {
            let values = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            return values?["text"] as? String ?? ""
        }
    }

    /// The path of the receivers, which is a secret.
    static let path = "/services/a-secret"

    /// The next answers: a status, and header fields.
    private let answers: Mutex<[(status: Int, headers: HTTPFields)]>
    private let gate: Gate?
    private let (stream, posts) = AsyncStream.makeStream(of: Post.self)

    /// - Parameter gate: holds each answer back.
    init(answering answers: [(status: Int, headers: HTTPFields)] = [], gate: Gate? = nil) {
        self.answers = Mutex(answers)
        self.gate = gate
    }

    /// Returns the next post.
    func next() async throws -> Post {
        for await post in stream { return post }
        throw CancellationError()
    }

    /// Runs the server while `body` runs, which gets the address of a receiver.
    func run(port: Int = 0, _ body: @escaping @Sendable (String) async throws -> Void) async throws {
        let router = Router()
        router.post("/**") { [self] request, _ -> Response in
            let text = String(buffer: try await request.body.collect(upTo: 1 << 20))
            await gate?.pass()
            let answer = answers.withLock { $0.isEmpty ? (status: 204, headers: [:]) : $0.removeFirst() }
            posts.yield(Post(body: text, headers: request.headers, status: answer.status))
            return Response(status: .init(code: answer.status), headers: answer.headers)
        }
        try await LoopbackServer.run(router, port: port) { try await body($0.absoluteString + Self.path) }
    }
}

/// Findings of a fleet in which one service failed.
struct SampleFindings {
    /// The same finding while it goes on, a minute later, and after its end.
    let open: WatchedFinding
    let later: WatchedFinding
    let ended: WatchedFinding
    /// The time after the last minute.
    let now: UInt64

    init(_ service: String = "orders", environment: String? = "production") throws {
        var fleet = SampleFleet()
        let traffic = SampleFleet.Traffic.server(service)
        func finding() throws -> WatchedFinding {
            guard let finding = fleet.findings().first else { throw CancellationError() }
            return WatchedFinding(environment: environment, finding)
        }
        fleet.play(40, [traffic])
        fleet.play(10, [traffic.failing(0.9)])
        open = try finding()
        fleet.play(1, [traffic.failing(0.9)])
        later = try finding()
        fleet.play(20, [traffic])
        ended = try finding()
        now = FindingTime.time(SampleFleet.slot(fleet.minutes))
    }
}
