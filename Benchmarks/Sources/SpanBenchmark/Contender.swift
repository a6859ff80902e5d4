import Foundation
import Tracing

/// One kind of span of one tracer.
struct Contender {
    let name: String
    private let makeSpan: @Sendable () -> any Span

    /// The attributes that AsyncHTTPClient sets, set one by one in the same way.
    private static let names = [
        "http.request.method", "url.scheme", "server.address", "url.path", "url.full", "user_agent.original",
        "network.protocol.version", "peer.service",
    ]

    init(_ name: String, _ tracer: some Tracer, kind: SpanKind = .internal) {
        self.name = name
        makeSpan = { tracer.startSpan("GET", context: .topLevel, ofKind: kind) }
    }

    /// Makes `spans` spans and returns this thread's CPU time in nanoseconds for each. CPU time excludes other programs.
    func run(_ spans: Int) -> Double {
        let start = Self.threadTime()
        for _ in 0..<spans {
            let span = makeSpan()
            if span.isRecording {
                for name in Self.names { span.attributes[name] = "http://bench.example/users/7" }
            }
            span.end()
        }
        return (Self.threadTime() - start) / Double(spans)
    }

    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
