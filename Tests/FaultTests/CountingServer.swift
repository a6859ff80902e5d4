import Fixtures
import Foundation
import Hummingbird
import Synchronization

/// The server for the service's requests. It counts the requests that reach it, and can delay its answers, so that a
/// test knows which requests have ended.
final class CountingServer: Sendable {
    private struct State {
        var served: [String: Int] = [:]
        var total = 0
        /// The number of the first request whose answer is delayed.
        var limit = Int.max
        var held: [(number: Int, answer: CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())

    /// The number of requests by `life/worker`.
    var served: [String: Int] { state.withLock { $0.served } }

    var total: Int { state.withLock { $0.total } }

    /// Delays the answers to the request with this number and all later ones, until the next call. Releases the answers
    /// to earlier requests.
    func hold(from number: Int) {
        let free = state.withLock { state in
            state.limit = number
            let free = state.held.filter { $0.number < number }
            state.held.removeAll { $0.number < number }
            return free
        }
        for one in free { one.answer.resume() }
    }

    func release() { hold(from: .max) }

    /// Runs the server on a free port while `body` runs.
    func run(_ body: @escaping @Sendable (URL) async throws -> Void) async throws {
        let router = Router()
        router.get(":life/:worker") { request, _ in
            await self.answer(request.uri.path.dropFirst())
            return "done"
        }
        try await LoopbackServer.run(router) { url in
            defer { self.release() }
            try await body(url)
        }
    }

    private func answer(_ cell: some StringProtocol) async {
        let number = state.withLock { state in
            state.served[String(cell), default: 0] += 1
            state.total += 1
            return state.total
        }
        // The delay sets the rate of the load: a few hundred requests a second, over several intervals.
        try? await Task.sleep(for: .milliseconds(4))
        await pass(number)
    }

    private func pass(_ number: Int) async {
        await withCheckedContinuation { answer in
            let isFree = state.withLock { state in
                if number >= state.limit { state.held.append((number, answer)) }
                return number < state.limit
            }
            if isFree { answer.resume() }
        }
    }
}
