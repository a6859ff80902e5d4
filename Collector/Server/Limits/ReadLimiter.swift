import Synchronization

/// Limits the reads at a time. Each read has a reader of the store, and then the memory of its answer until that was sent.
/// If all slots are taken, a read waits in line, as the panels of a dashboard do that all ask at once. If the line is full,
/// the read is turned away. Safe to call from any task.
final class ReadLimiter: Sendable {
    private struct State {
        var reads = 0
        var waiting: [(number: UInt64, turn: AsyncStream<Slot>.Continuation)] = []
        var lastNumber: UInt64 = 0
    }

    private enum Entrance {
        case entered
        case waits(number: UInt64)
        case full
    }

    /// See ``ServerLimits/readPatience``.
    let patience: Duration
    private let maxReads: Int
    private let maxWaiting: Int
    private let state = Mutex(State())

    init(_ limits: ServerLimits) {
        patience = limits.readPatience
        maxReads = limits.maxReads
        maxWaiting = limits.maxWaitingReads
    }

    /// Whether a read waits for a slot.
    var isWaitedFor: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// A slot for one read. It becomes free when its last reference ends.
    final class Slot: Sendable {
        let limiter: ReadLimiter

        fileprivate init(of limiter: ReadLimiter) {
            self.limiter = limiter
        }

        deinit { limiter.leave() }
    }

    /// Returns a slot, after a wait if all are taken; `nil` if the line is full. Throws `CancellationError` if its
    /// task is cancelled while it waits.
    func enter() async throws -> Slot? {
        let (turns, turn) = AsyncStream.makeStream(of: Slot.self)
        switch state.withLock({ add(turn, to: &$0) }) {
        case .entered: return Slot(of: self)
        case .full: return nil
        case .waits(let number):
            defer { state.withLock { $0.waiting.removeAll { $0.number == number } } }
            for await slot in turns { return slot }
            throw CancellationError()
        }
    }

    private func add(_ turn: AsyncStream<Slot>.Continuation, to state: inout State) -> Entrance {
        if state.reads < maxReads {
            state.reads += 1
            return .entered
        }
        guard state.waiting.count < maxWaiting else { return .full }
        state.lastNumber += 1
        state.waiting.append((state.lastNumber, turn))
        return .waits(number: state.lastNumber)
    }

    /// Gives the slot to the next read in line. A read that has just given up drops the slot, which then goes to the
    /// next.
    private func leave() {
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.reads -= 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst().turn
        }
        next?.yield(Slot(of: self))
    }
}
