import Logging
import MartletStorage
import ServiceLifecycle

/// Makes the store coarsen older points and delete expired ones every few seconds, until the collector stops. A step that the
/// stop interrupts is repeated after the next start.
struct StoreMaintenance: Service {
    /// The time between the end of one pass and the next. A minute's points are rolled up soon after the minute ends.
    static let pause = Duration.seconds(10)

    let storage: any Storage
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var events = StorageEventLog()
            while true {
                do {
                    try await storage.maintain()
                    for line in events.lines(after: try await storage.state()) {
                        logger.log(level: line.level, "\(line.text)")
                    }
                } catch is CancellationError {
                    return
                } catch {
                    logger.error("old data could not be rolled up or deleted", metadata: ["error": "\(error)"])
                }
                if let line = events.line(on: storage.fault) { logger.log(level: line.level, "\(line.text)") }
                try await Task.sleep(for: Self.pause)
            }
        }
        // If this service returned before the others, it would stop them all.
        try? await gracefulShutdown()
    }
}

/// Logs what an operator should know about a store: each condition once when it begins, and once when it ends.
struct StorageEventLog {
    struct Line: Equatable {
        var level: Logger.Level
        var text: String
    }

    /// The number of maintenance passes after which a line about shedding is repeated: about an hour's.
    private static let sheddingPasses = 360

    private var known = StorageState()
    private var knownFault: String?
    private var passesSinceShedding: Int?

    /// Returns the line about a fault that has begun, changed or ended, or `nil` if nothing changed.
    ///
    /// - Parameter fault: the reason why the store takes no batches; `nil` if it takes them.
    mutating func line(on fault: String?) -> Line? {
        defer { knownFault = fault }
        guard fault != knownFault else { return nil }
        guard let fault else { return Line(level: .notice, text: "the store accepts batches again") }
        return Line(level: .error, text: "the store accepts no batches: \(fault)")
    }

    /// Returns the lines after a maintenance pass.
    mutating func lines(after state: StorageState) -> [Line] {
        defer { known = state }
        return [clock(state), shedding(state), limit(state)].compactMap { $0 }
    }

    private func clock(_ state: StorageState) -> Line? {
        guard (state.clockJump == 0) != (known.clockJump == 0) else { return nil }
        guard state.clockJump != 0 else {
            return Line(level: .notice, text: "the clock is trusted; data is deleted by age from now on")
        }
        let hours = (abs(state.clockJump) / 3600 * 10).rounded() / 10
        return Line(
            level: .warning,
            text: """
                the clock is \(hours) hours \(state.clockJump > 0 ? "ahead of" : "behind") the time at which the store was \
                last in use; nothing is deleted by age until the clock has run steadily for an hour and most senders agree with it
                """)
    }

    private mutating func shedding(_ state: StorageState) -> Line? {
        let shed = state.shed - known.shed
        passesSinceShedding = passesSinceShedding.map { $0 + 1 }
        guard shed > 0, passesSinceShedding.map({ $0 >= Self.sheddingPasses }) ?? true else { return nil }
        passesSinceShedding = 0
        return Line(
            level: .warning,
            text: """
                the store has reached its limit of \(ByteSize.text(state.maxBytes)) (--max-store): \(state.shedDetails) \
                details, \(state.shedChunks) rows of finer points and \(state.shedHours) rows of hours were deleted early since \
                the start
                """)
    }

    private func limit(_ state: StorageState) -> Line? {
        guard !state.mayShrink, known.mayShrink else { return nil }
        return Line(
            level: .error,
            text: """
                the store holds \(ByteSize.text(state.bytesInUse)) and nothing more may be deleted early; raise \
                --max-store above \(ByteSize.text(state.maxBytes)), or shorten --retention
                """)
    }
}

extension StorageState {
    /// Rows deleted since the start because the store was full.
    fileprivate var shed: UInt64 { shedDetails + shedChunks + shedHours }
}
