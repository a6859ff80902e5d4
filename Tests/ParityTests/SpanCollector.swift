import Hummingbird
import MartletOTLP
import Synchronization

/// A collector that keeps all spans that it receives.
final class SpanCollector: Sendable {
    private let bodies = Mutex<[ByteBuffer]>([])

    var spans: [OTLPSpan] {
        get throws {
            try bodies.withLock { $0 }.flatMap { body in
                try OTLPExportTraceServiceRequest(serializedBytes: Array(body.readableBytesView)).resourceSpans
                    .flatMap(\.scopeSpans).flatMap(\.spans)
            }
        }
    }

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.post("v1/metrics") { _, _ in HTTPResponse.Status.ok }
        router.post("v1/traces") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 26)
            self.bodies.withLock { $0.append(body) }
            return HTTPResponse.Status.ok
        }
        return router
    }
}
