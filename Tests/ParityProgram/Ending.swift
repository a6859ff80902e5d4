import Synchronization

/// An event that happens once or never; a wait for it ends in either case.
final class Ending: Sendable {
    private let state = Mutex<(isReached: Bool, waiting: [AsyncStream<Void>.Continuation])>((false, []))

    func reach() {
        let waiting = state.withLock { state in
            state.isReached = true
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Waits for the event, and returns whether it happened before the limit. Several calls are allowed.
    func wait(atMost limit: Duration) async -> Bool {
        let (events, happened) = AsyncStream<Void>.makeStream()
        let isReached = state.withLock { state in
            state.waiting.append(happened)
            return state.isReached
        }
        if isReached { return true }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in events {}
                return !Task.isCancelled
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            let isReached = await group.next() ?? false
            group.cancelAll()
            return isReached
        }
    }
}
