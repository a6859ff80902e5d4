import Synchronization

/// The requests that an agent in memory has captured, in the order in which they ended. Thread-safe.
final class RecordedRequests: Sendable {
    private let state: Lock<State>

    private struct State {
        /// Only the names of endpoints come from it.
        var names: SeriesStatistics
        var requests: [MartletRequest] = []
    }

    init(_ configuration: MartletConfiguration) {
        state = Lock(State(names: SeriesStatistics(configuration, start: Clock.wall())))
    }

    var all: [MartletRequest] { state.withLock(\.requests) }

    func add(_ request: CapturedRequest) {
        state.withLock { state in
            let limit = MartletLimits.requestsInMemory
            if state.requests.count >= limit { state.requests.removeFirst(limit / 10) }
            state.requests.append(MartletRequest(request, state.names.dimensions(of: request)))
        }
    }
}
