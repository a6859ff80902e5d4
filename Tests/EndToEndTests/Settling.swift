/// Repeats a query until its answer is complete, for a minute and a half at most. A store on ClickHouse counts cumulative
/// points only after they have settled.
func settled<Answer>(
    _ ask: () async throws -> Answer, until isComplete: (Answer) -> Bool
) async throws -> Answer {
    var answer = try await ask()
    for _ in 0..<90 where !isComplete(answer) {
        // The store gives no notice of a change.
        try await Task.sleep(for: .seconds(1))
        answer = try await ask()
    }
    return answer
}
