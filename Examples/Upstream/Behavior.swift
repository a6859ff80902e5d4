import Hummingbird
import Synchronization

/// The behavior of a route. It answers after a log-normal time, as real routes tend to, and fails for a share of its requests.
///
/// Each route has a separate random generator, so the same number of requests gets the same answers on every run.
struct Behavior: RouterMiddleware {
    let latency: LogNormal
    let failures: KeyValuePairs<HTTPResponse.Status, Double>
    private let generator: SharedGenerator

    init(seed: UInt64, latency: LogNormal, failures: KeyValuePairs<HTTPResponse.Status, Double> = [:]) {
        self.latency = latency
        self.failures = failures
        generator = SharedGenerator(seed: seed)
    }

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        let (delay, failure) = draw()
        try await Task.sleep(for: delay)
        if let failure { throw HTTPError(failure) }
        return try await next(request, context)
    }

    private func draw() -> (delay: Duration, failure: HTTPResponse.Status?) {
        generator.state.withLock { generator in
            (latency.draw(from: &generator), failure(at: .random(in: 0..<1, using: &generator)))
        }
    }

    private func failure(at point: Double) -> HTTPResponse.Status? {
        var end = 0.0
        for (status, share) in failures {
            end += share
            if point < end { return status }
        }
        return nil
    }
}

private final class SharedGenerator: Sendable {
    let state: Mutex<SplitMix64>

    init(seed: UInt64) {
        state = Mutex(SplitMix64(seed: seed))
    }
}
