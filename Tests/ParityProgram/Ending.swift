import Synchronization

/// Something that happens once, or never: then waiting for it ends all the same.
final class Ending: Sendable {
    private let state = Mutex<(isReached: Bool, waiting: [AsyncStream<Void>.Continuation])>((false, []))

    func reach() {
        let waiting = state.withLock { state in
            state.isReached = true
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Whether it happened before the limit. May be asked again.
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
