import Hummingbird
import NIOCore
import Synchronization

/// Limits the number of concurrent reads. Each read holds one of the store's readers, and then the memory of its answer until
/// that is sent. If all slots are taken, a read waits in line: the panels of a dashboard all ask at once. If the line is full,
/// the read is refused. Safe to call from any task.
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

    /// See ``ServerLimits/stallTimeout``.
    let stallTimeout: Duration
    private let maxReads: Int
    private let maxWaiting: Int
    private let state = Mutex(State())

    init(_ limits: ServerLimits) {
        stallTimeout = limits.stallTimeout
        maxReads = limits.maxReads
        maxWaiting = limits.maxWaitingReads
    }

    /// Whether a read waits for a slot.
    var hasWaiters: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// A slot for one read. It becomes free when its last reference ends.
    final class Slot: Sendable {
        let limiter: ReadLimiter

        fileprivate init(of limiter: ReadLimiter) {
            self.limiter = limiter
        }

        deinit { limiter.leave() }
    }

    /// Returns a slot, after a wait if all are taken; `nil` if the line is full. Throws `CancellationError` if its task is
    /// cancelled while it waits.
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

    /// Gives the slot to the next read in line. A read that has just given up drops the slot, which then goes to the next one.
    private func leave() {
        let next = state.withLock { state in
            if state.waiting.isEmpty { state.reads -= 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst().turn
        }
        next?.yield(Slot(of: self))
    }
}

/// Admits as many concurrent reads as the limiter has slots. Each keeps its slot until its answer is sent or its client has
/// left.
struct ReadLimiterMiddleware: RouterMiddleware {
    typealias Context = CollectorRequestContext

    let limiter: ReadLimiter

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            guard let slot = try await context.whileClientIsThere({ try await limiter.enter() }) else {
                return try refusal("too many clients are reading at the same time; try again later")
            }
            return try await next(request, context).sent(in: slot, over: context.channel)
        } catch is CancellationError {
            // Two kinds of clients receive this: a client that ended only its sending side, and any client of a collector that
            // stops.
            return try refusal("the request was cancelled, because its connection or the collector is closing")
        }
    }

    private func refusal(_ message: String) throws -> Response {
        try Response.json(Problem(error: message), status: .serviceUnavailable).retryable()
    }
}

extension Response {
    /// Returns the response, which keeps `slot` until it is sent or dropped. If its client takes nothing for a while and
    /// another read waits for a slot, its connection is closed: see ``ServerLimits/stallTimeout``.
    func sent(in slot: ReadLimiter.Slot, over channel: any Channel) -> Response {
        var response = self
        response.body = ResponseBody(contentLength: body.contentLength) { [body] writer in
            defer { withExtendedLifetime(slot) {} }
            let progress = Progress()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await progress.waitForStall(in: slot.limiter)
                    channel.close(promise: nil)
                }
                try await body.write(PiecewiseWriter(base: writer, progress: progress))
                group.cancelAll()
            }
        }
        return response
    }
}

/// Counts the beginning and the end of each piece. It is odd while a client has a piece to take.
private final class Progress: Sendable {
    private let steps = Atomic(0)

    func step() { steps.add(1, ordering: .relaxed) }

    /// Returns when, for a while, a client took nothing of its piece and another read waited.
    func waitForStall(in limiter: ReadLimiter) async throws {
        var before = 0
        while true {
            let steps = steps.load(ordering: .relaxed)
            if steps == before, steps % 2 == 1, limiter.hasWaiters { return }
            before = steps
            try await Task.sleep(for: limiter.stallTimeout)
        }
    }
}

/// Writes the answer in pieces that a client takes one after the other. A slow client has the time limit for each piece (see
/// ``AnswerDeadline``).
struct PiecewiseWriter: ResponseBodyWriter {
    /// The bytes that NIO buffers for a client before it makes the writer wait.
    static let pieceBytes = 64 * 1024

    fileprivate var base: any ResponseBodyWriter
    fileprivate let progress: Progress

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceBytes)), piece.readableBytes > 0 {
            progress.step()
            try await base.write(piece)
            progress.step()
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await base.finish(trailingHeaders)
    }
}
