import Fixtures
import Foundation
import Hummingbird
import Synchronization

/// The server that the service's requests go to: counts those that reach it, tells when there were so many, and can hold
/// back its answers so that a test knows what has ended.
final class CountingServer: Sendable {
    private struct State {
        var served: [String: Int] = [:]
        var total = 0
        /// From this number on they wait for their answers.
        var limit = Int.max
        var held: [(number: Int, answer: CheckedContinuation<Void, Never>)] = []
        var watchers: [(count: Int, reached: CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())

    /// By `life/worker`.
    var served: [String: Int] { state.withLock { $0.served } }

    var total: Int { state.withLock { $0.total } }

    /// Returns when it has had so many requests in all.
    func await(_ count: Int) async {
        await withCheckedContinuation { reached in
            let isNow = state.withLock { state in
                if state.total < count { state.watchers.append((count, reached)) }
                return state.total >= count
            }
            if isNow { reached.resume() }
        }
    }

    /// From the request of this number on none is answered until the next call; those that wait and come before it are.
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

    /// Runs it on a free port for as long as `body` runs.
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
        let (number, reached) = state.withLock { state in
            state.served[String(cell), default: 0] += 1
            state.total += 1
            let total = state.total
            let reached = state.watchers.filter { $0.count <= total }
            state.watchers.removeAll { $0.count <= total }
            return (total, reached)
        }
        for watcher in reached { watcher.reached.resume() }
        // The pace of the load: a few hundred requests a second, over several intervals.
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
