/// Something that happens once, or never: then waiting for it ends all the same.
struct Ending: Sendable {
    private let events: AsyncStream<Void>
    private let happened: AsyncStream<Void>.Continuation

    init() { (events, happened) = AsyncStream.makeStream() }

    func reach() { happened.finish() }

    /// Whether it happened before the limit.
    func wait(atMost limit: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
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
