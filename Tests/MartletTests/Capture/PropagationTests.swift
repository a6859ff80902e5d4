import Foundation
import FoundationNetworking
import MartletTelemetry
import ServiceContextModule
import Testing

@testable import Martlet

extension AgentTests {
    @Suite struct PropagationTests {
        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit])
        func traceHeadersAreSentOnNewAndReusedConnectionsAndEachHop(capture: MartletConfiguration.Capture) async throws
        {
            try await withAgent({
                $0.capture = capture
                $0.sampleRate = 1
            }) { agent, collector, base in
                let session = Self.session()
                var sent: [String] = []
                for path in ["trace", "trace", "redirect-to-trace"] {
                    sent.append(try await Self.headers(session, base / path).parent)
                }
                await agent.flush()
                let spans = try collector.spans().map { "00-\($0.traceID.hex)-\($0.spanID.hex)-01" }
                #expect(Set(sent).count == 3)
                #expect(Set(sent) == Set(spans))
            }
        }

        @Test func requestIsAChildOfTheCallersSpanAndInheritsItsSampling() async throws {
            for isSampled in [true, false] {
                try await withAgent({ $0.sampleRate = isSampled ? 0 : 1 }) { agent, collector, base in
                    let caller = TraceContext(
                        traceID: TraceIDs.nextTrace(), spanID: TraceIDs.nextSpan(), isSampled: isSampled,
                        traceState: "vendor=x")
                    var context = ServiceContext.topLevel
                    context.traceContext = caller
                    let (parent, state) = try await ServiceContext.withValue(context) {
                        try await Self.headers(Self.session(), base / "trace")
                    }
                    #expect(parent.hasPrefix("00-\(caller.traceID)-"))
                    #expect(parent.hasSuffix(isSampled ? "-01" : "-00"))
                    #expect(state == "vendor=x")
                    await agent.flush()
                    let spans = try collector.spans()
                    #expect(spans.map(\.parentSpanID.hex) == (isSampled ? [caller.spanID.description] : []))
                }
            }
        }

        @Test func traceHeaderSetByTheCallerIsKept() async throws {
            try await withAgent { _, _, base in
                var request = URLRequest(url: base / "trace")
                request.setValue(
                    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", forHTTPHeaderField: "Traceparent")
                let (data, _) = try await Self.session().data(for: request)
                #expect(
                    String(decoding: data, as: UTF8.self) == "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n"
                )
            }
        }

        @Test func noTraceHeadersAreSentIfPropagationIsOffOrTheRequestIsExcluded() async throws {
            try await withAgent({ $0.propagate = false }) { _, _, base in
                let sent = try await Self.headers(Self.session(), base / "trace")
                #expect(sent.parent == "")
            }
            try await withAgent({ $0.exclude = ["*/trace"] }) { _, _, base in
                let sent = try await Self.headers(Self.session(), base / "trace")
                #expect(sent.parent == "")
            }
        }

        /// The server is reached under two names. The redirect leads from the one to the other.
        @Test func onlyNamedTargetsGetTraceHeadersOnEachHop() async throws {
            try await withAgent({ $0.propagateTo = ["localhost/*"] }) { _, _, base in
                let port = try #require(base.port)
                let named = try #require(URL(string: "http://localhost:\(port)"))
                for (url, isSent) in [
                    (named / "trace", true), (base / "trace", false), (named / "redirect-to-trace", true),
                    (base / "redirect-to-trace", false),
                ] {
                    let sent = try await Self.headers(Self.session(), url)
                    #expect(sent.parent.isEmpty == !isSent, "\(url)")
                }
                var parts = URLComponents(url: named / "redirect-to", resolvingAgainstBaseURL: false)
                parts?.queryItems = [URLQueryItem(name: "url", value: (base / "trace").absoluteString)]
                let away = try #require(parts?.url)
                #expect(try await Self.headers(Self.session(), away).parent == "")
            }
        }

        private static func session() -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.captureWithMartlet()
            return URLSession(configuration: configuration)
        }

        private static func headers(_ session: URLSession, _ url: URL) async throws -> (parent: String, state: String) {
            let (data, _) = try await session.data(from: url)
            let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            return (String(lines.first ?? ""), String(lines.dropFirst().first ?? ""))
        }
    }
}

extension Data {
    /// Lower-case hexadecimal digits.
    fileprivate var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
