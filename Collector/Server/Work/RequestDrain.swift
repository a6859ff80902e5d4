import Hummingbird
import Synchronization

/// The requests that are being answered. After ``drain()`` it admits no other request. Safe to call from any task.
package final class RequestDrain: Sendable {
    private struct State {
        var count = 0
        var isDraining = false
        var drained: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Stops admitting requests, and returns when the last request is answered or the task is cancelled.
    package func drain() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        state.withLock { state in
            state.isDraining = true
            if state.count == 0 { continuation.finish() } else { state.drained.append(continuation) }
        }
        for await _ in stream {}
    }

    /// Counts a request and returns `true`. The caller must call ``leave()`` afterwards. After ``drain()`` it returns `false`
    /// and counts nothing.
    func enter() -> Bool {
        state.withLock { state in
            guard !state.isDraining else { return false }
            state.count += 1
            return true
        }
    }

    func leave() {
        let drained = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [AsyncStream<Void>.Continuation]() }
            defer { state.drained = [] }
            return state.drained
        }
        for continuation in drained { continuation.finish() }
    }
}

/// Refuses new requests while the collector finishes the requests in progress before it stops. Senders try again after a 503
/// (OTLP specification, "Retryable Response Codes"), and reach the collector's successor.
struct DrainingMiddleware<Context: RequestContext>: RouterMiddleware {
    let requests: RequestDrain

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard requests.enter() else { return try refusal(of: request) }
        defer { requests.leave() }
        return try await next(request, context)
    }

    /// Returns a refusal in OTLP for a sender, and in JSON for a reader.
    private func refusal(of request: Request) throws -> Response {
        let message = "the collector is stopping; try again later"
        return IngestSignal(path: request.uri.path) != nil
            ? try Response.otlpFailure(status: 503, message: message, to: request)
            : try Response.json(Problem(error: message), status: .serviceUnavailable).retryable()
    }
}
