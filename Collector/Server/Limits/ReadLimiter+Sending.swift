import Hummingbird
import NIOCore
import Synchronization

extension Response {
    /// Returns the response, which keeps `slot` until it was sent or dropped. If its client takes nothing for a while and
    /// another read waits for a slot, its connection is closed: see ``ServerLimits/readPatience``.
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

/// The number of pieces that were begun and ended; odd while a client has one to take.
private final class Progress: Sendable {
    private let steps = Atomic(0)

    func step() { steps.add(1, ordering: .relaxed) }

    /// Returns when a client took nothing of its piece for a while that another waited for.
    func waitForStall(in limiter: ReadLimiter) async throws {
        var before = 0
        while true {
            let steps = steps.load(ordering: .relaxed)
            if steps == before, steps % 2 == 1, limiter.isWaitedFor { return }
            before = steps
            try await Task.sleep(for: limiter.patience)
        }
    }
}

/// Writes in pieces that a client takes one after the other.
private struct PiecewiseWriter: ResponseBodyWriter {
    /// As much as NIO holds for a client before it has the writer wait.
    private static let pieceBytes = 64 * 1024

    var base: any ResponseBodyWriter
    let progress: Progress

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
