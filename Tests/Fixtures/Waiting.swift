/// Waits until a condition holds. After two minutes it throws an error that names the condition.
///
/// Use it for things without a notification: a state of another process, or of a task that cannot be observed.
package func wait(for awaited: String, until isSo: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while try await !isSo() {
        guard ContinuousClock.now < end else { throw WaitedInVain(awaited: awaited) }
        await Task.yield()
    }
}

package struct WaitedInVain: Error, CustomStringConvertible {
    let awaited: String

    package var description: String { "waited two minutes in vain for \(awaited)" }
}
