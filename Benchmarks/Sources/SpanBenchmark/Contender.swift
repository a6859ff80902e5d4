import Tracing

/// One kind of span of one tracer.
struct Contender {
    let name: String
    private let makeSpan: @Sendable () -> any Span

    /// Those of AsyncHTTPClient, set one by one as it does.
    private static let names = [
        "http.request.method", "url.scheme", "server.address", "url.path", "url.full", "user_agent.original",
        "network.protocol.version", "peer.service",
    ]

    init(_ name: String, _ tracer: some Tracer, kind: SpanKind = .internal) {
        self.name = name
        makeSpan = { tracer.startSpan("GET", context: .topLevel, ofKind: kind) }
    }

    /// Nanoseconds for each span.
    func run(_ spans: Int) -> Double {
        let clock = ContinuousClock()
        let time = clock.measure {
            for _ in 0..<spans {
                let span = makeSpan()
                if span.isRecording {
                    for name in Self.names { span.attributes[name] = "http://bench.example/users/7" }
                }
                span.end()
            }
        }
        let (seconds, attoseconds) = time.components
        return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(spans)
    }
}
