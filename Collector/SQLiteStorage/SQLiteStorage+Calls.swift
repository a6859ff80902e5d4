import MartletStorage

/// The calls between services: those that kept spans show, and those that are remembered of spans that have gone.
extension SQLiteStorage {
    package func calls(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int
    ) async throws -> Set<ObservedCall> {
        try await health.watching {
            try await pool.read { db in
                try ObservedCalls.find(in: window, filter, limit: limit, in: db)
                    .union(ObservedCallRows.find(in: window, filter, limit: limit, in: db))
            }
        }
    }

    /// Remembers the calls of spans that came since the last time. A caller's span may come after that of its callee, and the first
    /// time after a start looks at all that are kept.
    func rememberCalls() async throws {
        while true {
            let before = rememberedSpan.load(ordering: .relaxed)
            guard let found = try await pool.read({ try CallSightings(after: before, in: $0) }) else { return }
            if !found.calls.isEmpty {
                try await write { [limit = limits.maxObservedCalls] db in
                    try ObservedCallRows.add(found.calls, atMost: limit, in: db)
                }
            }
            rememberedSpan.store(found.last, ordering: .relaxed)
            try Task.checkCancellation()
        }
    }
}
