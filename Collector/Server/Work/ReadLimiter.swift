import Hummingbird
import NIOCore
import Synchronization

/// Limits the number of concurrent reads. Each read holds one of the store's readers, and then the memory of its answer until
/// that is sent. If all slots are taken, a read waits in line: the panels of a dashboard all ask at once. If the line is full,
/// a read is refused. Safe to call from any task.
///
/// Each reader has a share: all slots but one at most, and the next free slot before readers that hold more. A reader with many
/// reads in a full line makes way for one with fewer.
final class ReadLimiter: Sendable {
    fileprivate struct State {
        var reads = 0
        var readsOf: [String: Int] = [:]
        var waiting: [Waiting] = []
        var lastNumber: UInt64 = 0
    }

    fileprivate struct Waiting {
        let number: UInt64
        let reader: String
        let turn: AsyncStream<Slot?>.Continuation
    }

    private enum Entrance {
        case entered
        case waits(number: UInt64)
        case full
    }

    /// See ``ServerLimits/stallTimeout``.
    let stallTimeout: Duration
    /// See ``ServerLimits/readTimeout``.
    let readTimeout: Duration
    private let maxReads: Int
    private let maxReadsOfReader: Int
    private let maxWaiting: Int
    private let state = Mutex(State())

    init(_ limits: ServerLimits) {
        (stallTimeout, readTimeout) = (limits.stallTimeout, limits.readTimeout)
        (maxReads, maxWaiting) = (limits.maxReads, limits.maxWaitingReads)
        maxReadsOfReader = max(1, maxReads - 1)
    }

    /// The number of reads that wait for a slot.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// A slot for one read. It becomes free when its last reference ends.
    final class Slot: Sendable {
        let limiter: ReadLimiter
        private let reader: String

        fileprivate init(of limiter: ReadLimiter, for reader: String) {
            (self.limiter, self.reader) = (limiter, reader)
        }

        deinit { limiter.leave(reader) }
    }

    /// Returns a slot, after a wait if none is free; `nil` if the line is full. Throws `CancellationError` if its task is cancelled
    /// while it waits.
    ///
    /// - Parameter reader: the key of the reader.
    func enter(_ reader: String) async throws -> Slot? {
        let (turns, turn) = AsyncStream.makeStream(of: Slot?.self)
        let (entrance, displaced) = state.withLock { enter(reader, turn, &$0) }
        displaced?.yield(nil)
        switch entrance {
        case .entered: return Slot(of: self, for: reader)
        case .full: return nil
        case .waits(let number):
            defer { state.withLock { $0.waiting.removeAll { $0.number == number } } }
            for await slot in turns { return slot }
            throw CancellationError()
        }
    }

    /// Returns the turn that loses its place in a full line, besides the new read's entrance.
    private func enter(
        _ reader: String, _ turn: AsyncStream<Slot?>.Continuation, _ state: inout State
    ) -> (Entrance, displaced: AsyncStream<Slot?>.Continuation?) {
        if state.reads < maxReads, state.readsOf[reader] ?? 0 < maxReadsOfReader {
            state.take(for: reader)
            return (.entered, nil)
        }
        var displaced: AsyncStream<Slot?>.Continuation?
        if state.waiting.count >= maxWaiting {
            displaced = state.displace(for: reader)
            guard displaced != nil else { return (.full, nil) }
        }
        state.lastNumber += 1
        state.waiting.append(Waiting(number: state.lastNumber, reader: reader, turn: turn))
        return (.waits(number: state.lastNumber), displaced)
    }

    /// Gives the slot to the next read in line. A read that has just given up drops the slot, which then goes to the next one.
    private func leave(_ reader: String) {
        let next = state.withLock { state in
            state.give(by: reader)
            let next = state.removeNext(maxReadsOfReader)
            if let next { state.take(for: next.reader) }
            return next
        }
        if let next { next.turn.yield(Slot(of: self, for: next.reader)) }
    }
}

extension ReadLimiter.State {
    mutating func take(for reader: String) {
        reads += 1
        readsOf[reader, default: 0] += 1
    }

    mutating func give(by reader: String) {
        reads -= 1
        readsOf[reader, default: 1] -= 1
        if readsOf[reader] == 0 { readsOf[reader] = nil }
    }

    /// Removes the read whose turn it is: of the readers with the fewest slots, the one that has waited longest. Returns `nil` if
    /// none may enter.
    mutating func removeNext(_ maxReadsOfReader: Int) -> ReadLimiter.Waiting? {
        let held = waiting.map { readsOf[$0.reader] ?? 0 }
        guard let least = held.min(), least < maxReadsOfReader, let index = held.firstIndex(of: least) else {
            return nil
        }
        return waiting.remove(at: index)
    }

    /// Removes the last read of the reader with the most waiting reads, and returns its turn; `nil` if no reader has two more than
    /// `reader`.
    mutating func displace(for reader: String) -> AsyncStream<ReadLimiter.Slot?>.Continuation? {
        let counts = waiting.reduce(into: [:]) { $0[$1.reader, default: 0] += 1 }
        guard let most = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }),
            most.value > (counts[reader] ?? 0) + 1, let index = waiting.lastIndex(where: { $0.reader == most.key })
        else { return nil }
        return waiting.remove(at: index).turn
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
            let reader = context.reader?.key ?? context.remoteAddress
            guard let slot = try await context.whileClientIsThere({ try await limiter.enter(reader) }) else {
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
            if steps == before, steps % 2 == 1, limiter.waitingCount > 0 { return }
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
