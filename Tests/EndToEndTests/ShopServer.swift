import Fixtures
import Foundation
import Hummingbird
import Synchronization

/// The server for the probe's requests. It counts its answers, and lets a test wait for a number of them.
final class ShopServer: Sendable {
    private struct State {
        var answered: [String: Int] = [:]
        var milliseconds: [String: [Double]] = [:]
        var waiting: (count: Int, action: CheckedContinuation<Void, Never>)?
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    /// The number of answers by `METHOD /endpoint status`.
    var answered: [String: Int] { state.withLock { $0.answered } }

    /// Milliseconds from the head of each request to just before its answer, by `METHOD /endpoint status`.
    var milliseconds: [String: [Double]] { state.withLock { $0.milliseconds } }

    /// Returns when the server has given `count` answers in all.
    func awaitAnswers(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isNow = state.withLock { state in
                if state.answered.values.reduce(0, +) >= count { return true }
                state.waiting = (count, continuation)
                return false
            }
            if isNow { continuation.resume() }
        }
    }

    /// Holds back all answers while `body` runs, so that the service cannot end.
    func hold<Value>(while body: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.isHeld = true }
        defer {
            let held = state.withLock { state in
                defer { (state.isHeld, state.held) = (false, []) }
                return state.held
            }
            for answer in held { answer.resume() }
        }
        return try await body()
    }

    private func pass() async {
        await withCheckedContinuation { answer in
            let isFree = state.withLock { state in
                if state.isHeld { state.held.append(answer) }
                return !state.isHeld
            }
            if isFree { answer.resume() }
        }
    }

    /// Runs the server on a free port while `body` runs.
    func run(_ body: @escaping @Sendable (URL) async throws -> Void) async throws {
        let router = Router()
        router.get("users/:id") { request, _ in try await self.answer("GET /users/{id}", .ok, after: request) }
        router.get("orders/:id/items") { request, _ in
            try await self.answer("GET /orders/{id}/items", .ok, after: request)
        }
        router.get("missing/:id") { _, _ in try await self.answer("GET /missing/{id}", .notFound) }
        router.get("broken") { _, _ in try await self.answer("GET /broken", .internalServerError) }
        router.post("posted") { request, _ in
            _ = try await request.body.collect(upTo: 1 << 20)
            return try await self.answer("POST /posted", .ok)
        }
        try await LoopbackServer.run(router, body)
    }

    /// Counts and returns an answer. With `after` it takes 20 to 120 ms, depending on the number in that request's path.
    private func answer(
        _ route: String, _ status: HTTPResponse.Status, after request: Request? = nil
    ) async throws -> Response {
        let start = ContinuousClock.now
        if let request {
            let number = request.uri.path.split(separator: "/").compactMap { Int($0) }.first ?? 0
            try await Task.sleep(for: .milliseconds(20 + number * 37 % 101))
        }
        await pass()
        count("\(route) \(status.code)", time: .now - start)
        return Response(status: status, body: .init(byteBuffer: ByteBuffer(string: "done")))
    }

    private func count(_ answer: String, time: Duration) {
        let reached = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.answered[answer, default: 0] += 1
            state.milliseconds[answer, default: []].append(time / .milliseconds(1))
            guard let waiting = state.waiting, state.answered.values.reduce(0, +) >= waiting.count else { return nil }
            state.waiting = nil
            return waiting.action
        }
        reached?.resume()
    }
}
