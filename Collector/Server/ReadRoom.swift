import Synchronization

/// The room for what readers ask for: each has a reader of the store, and then the memory of its answer until that was sent.
/// Who finds no place waits for one in the order of coming, as the panels of a dashboard do that all ask at once; those who
/// find the line full are turned away. Safe to call from any task.
final class ReadRoom: Sendable {
    private struct State {
        var reads = 0
        var waiting: [(number: UInt64, turn: AsyncStream<Place>.Continuation)] = []
        var lastNumber: UInt64 = 0
    }

    private enum Entrance {
        case entered
        case waits(number: UInt64)
        case full
    }

    private let maxReads: Int
    private let maxWaiting: Int
    private let state = Mutex(State())

    init(_ limits: ServerLimits) {
        maxReads = limits.maxReads
        maxWaiting = limits.maxWaitingReads
    }

    /// A reader's part of the room, which it leaves with the value.
    final class Place: Sendable {
        private let room: ReadRoom

        fileprivate init(in room: ReadRoom) {
            self.room = room
        }

        deinit { room.leave() }
    }

    /// `nil` when as many wait as may. Throws `CancellationError` when its task is cancelled while it waits.
    func enter() async throws -> Place? {
        let (turns, turn) = AsyncStream.makeStream(of: Place.self)
        switch state.withLock({ add(turn, to: &$0) }) {
        case .entered: return Place(in: self)
        case .full: return nil
        case .waits(let number):
            defer { state.withLock { $0.waiting.removeAll { $0.number == number } } }
            for await place in turns { return place }
            throw CancellationError()
        }
    }

    private func add(_ turn: AsyncStream<Place>.Continuation, to state: inout State) -> Entrance {
        if state.reads < maxReads {
            state.reads += 1
            return .entered
        }
        guard state.waiting.count < maxWaiting else { return .full }
        state.lastNumber += 1
        state.waiting.append((state.lastNumber, turn))
        return .waits(number: state.lastNumber)
    }

    /// The next in line has the place then. One that has just given up drops it, and so leaves in its turn.
    private func leave() {
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.reads -= 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst().turn
        }
        next?.yield(Place(in: self))
    }
}
