import Foundation
import FoundationNetworking

/// Makes requests of all kinds, in their shares, with a fixed number of callers at a time.
struct Load: Sendable {
    private let kinds: [RequestKind]
    private let concurrency: Int
    /// The index of the kind for each of a thousand requests.
    private let turns: [Int]

    init(kinds: [RequestKind], concurrency: Int) {
        self.kinds = kinds
        self.concurrency = concurrency
        turns = kinds.indices.flatMap { Array(repeating: $0, count: kinds[$0].share) }
    }

    /// Makes `count` requests. Returns their number.
    func run(_ count: Int) async -> Int {
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<concurrency {
                group.addTask {
                    for number in stride(from: caller, to: count, by: concurrency) { await make(number) }
                }
            }
        }
        return count
    }

    /// Makes one request. Kinds follow one another as in a shuffled pack, in the same order in every run: 613 and 1000
    /// share no factor.
    private func make(_ number: Int) async { await kinds[turns[number * 613 % turns.count]].make(number) }

    /// Makes `count` requests at once, over a connection each. Returns their number, 0 if the server cannot listen.
    func burst(_ count: Int, options: Options) async -> Int {
        guard count > 0, let gathering = Gathering(of: count) else { return 0 }
        let session = options.session(connections: count)
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        var request = URLRequest(url: gathering.url)
        request.timeoutInterval = 600
        for _ in 0..<count { session.dataTask(with: request) { _, _, _ in ended.yield() }.resume() }
        for await _ in ends.prefix(count) {}
        session.finishTasksAndInvalidate()
        return count
    }
}
