import Fixtures
import Foundation
import Hummingbird
import MartletReports
import Synchronization
import Testing

/// Missing or unusual locales and time zones. The first two crash a process that uses Foundation's date formatter.
enum OddEnvironment: String, CaseIterable {
    case unknownLocale = "LANG=abcdefghijkl"
    case bytesForZone = #"TZ=Europ\351"#
    case turkish = "LC_ALL=tr_TR.UTF-8"
    case unknownZone = "TZ=nonsense"
    case missingZoneFile = "TZ=:/nonexistent"

    /// Starts a program in this environment through a shell, because the bytes of a variable need not be text.
    func start(
        _ program: ChildProcess.Program, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let script = #"export "$(printf "$0")"; exec "$@""#
        let shell = ChildProcess.Program(url: URL(fileURLWithPath: "/bin/sh"))
        return try ChildProcess(
            shell, ["-c", script, rawValue, program.url.path] + arguments, environment: environment)
    }
}

/// The agent and the collector do not depend on the locale and the time zone of their process.
@Suite(.serialized) struct LocaleTests {
    let folder: TemporaryFolder
    let shop = ShopServer()

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The service runs without the agent first, because Foundation itself may crash it.
    @Test(arguments: OddEnvironment.allCases)
    func serviceEndsAsItDoesWithoutTheAgent(environment: OddEnvironment) async throws {
        let answers = AnsweringCollector()
        let (folder, shop) = (folder, shop)
        try await answers.run { collector in
            try await shop.run { server in
                for transport in [nil, "libcurl", "urlsession"] {
                    let isEnabled = transport != nil
                    let service = try environment.start(
                        .probeService, [server.absoluteString, "5", "2"],
                        environment: [
                            "MARTLET_ENABLED": "\(isEnabled)", "MARTLET_ENDPOINT": collector.absoluteString,
                            "MARTLET_BUFFER_DIR": folder.path("buffer \(transport ?? "")"), "MARTLET_INTERVAL": "100ms",
                            "MARTLET_TRANSPORT": transport ?? "", "MARTLET_SAMPLE_RATE": "1",
                            "HOME": folder.path("home"),
                        ])
                    let (status, output, errors) = await service.finish()
                    #expect(status == 0, "\(errors)")
                    let result = try JSONDecoder().decode(ProbeResult.self, from: Data(output.utf8))
                    #expect(result.requests == 30)
                    #expect(result.captured == (isEnabled ? 30 : 0))
                    // The other requests wait, as the collector requested.
                    #expect(result.delivered + result.waiting == result.captured)
                    #expect(result.delivered > 0 || !isEnabled)
                }
            }
        }
        #expect(answers.paths.isSuperset(of: ["/v1/metrics", "/v1/traces"]))
    }

    @Test(arguments: OddEnvironment.allCases)
    func collectorCountsAndReports(environment: OddEnvironment) async throws {
        let store = "sqlite:" + folder.path("collector.sqlite")
        let collector = try environment.start(.martletCollector, ["serve", "--port", "0", "--store", store])
        let line = await collector.readLine()
        let address = try #require(line.components(separatedBy: "listening on ").dropFirst().first, "\(line)")
        let probe = Probe(folder: folder, collector: address)
        try await shop.run { server in _ = try await probe.finish(probe.start(server, requests: 5)) }
        let source = ["--collector", address]
        let json = try await output(of: ["report", "--since", "1h", "--format", "json"] + source, environment)
        let report = try ReportJSON.value(of: Report.self, in: Data(json.utf8))
        #expect(report.totals.measures.count == 30)
        #expect(report.from.hasSuffix("Z"))
        #expect(try await output(of: ["report", "--since", report.from] + source, environment).contains(" 30 "))
        #expect(try await output(of: ["agents"] + source, environment).contains("probe"))
        #expect(await collector.stop(with: SIGTERM) == 0)
    }

    private func output(of arguments: [String], _ environment: OddEnvironment) async throws -> String {
        let (status, output, errors) = try await environment.start(.martletCollector, arguments).finish()
        #expect(status == 0, "\(errors)")
        return output
    }
}

/// A collector whose answers have dates. It takes metrics and sets a cookie as a proxy does. It asks the sender to send traces
/// later.
private final class AnsweringCollector: Sendable {
    private let asked = Mutex<Set<String>>([])

    var paths: Set<String> { asked.withLock { $0 } }

    func run(_ body: @escaping @Sendable (URL) async throws -> Void) async throws {
        let router = Router()
        router.post("v1/metrics") { request, _ in
            try await self.take(request)
            let cookie = "proxy=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/"
            return Response(
                status: .ok, headers: [.setCookie: cookie, .expires: "Wed, 21 Oct 2099 07:28:00 GMT"])
        }
        router.post("v1/traces") { request, _ in
            try await self.take(request)
            return Response(
                status: .serviceUnavailable, headers: [.retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT"])
        }
        try await LoopbackServer.run(router, body)
    }

    private func take(_ request: Request) async throws {
        _ = try await request.body.collect(upTo: 1 << 24)
        asked.withLock { _ = $0.insert(request.uri.path) }
    }
}
