import Fixtures
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Debian's Prometheus with the configuration of `deploy/`, which scrapes one collector. The process is killed when the value
/// is released.
struct Prometheus {
    struct Sample: Decodable {
        let metric: [String: String]
        private let value: [Number]
        var number: Double { value.last?.number ?? .nan }
    }

    /// A number from JSON: Prometheus writes a time as a number and a value as text.
    private struct Number: Decodable {
        let number: Double

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            number = try (try? container.decode(Double.self)) ?? Double(container.decode(String.self)) ?? .nan
        }
    }

    private struct Answer: Decodable {
        struct Data: Decodable {
            let result: [Sample]
        }

        let status: String
        let error: String?
        let data: Data?
    }

    private let address: String
    private let process: ChildProcess

    /// Starts Prometheus, and returns after its first scrape. It begins up to five seconds after it is ready.
    init(scraping collector: String, token: String, folder: TemporaryFolder) async throws {
        let target = collector.replacingOccurrences(of: "http://", with: "")
        try token.write(toFile: folder.path("token"), atomically: true, encoding: .utf8)
        let configuration = try String(
            contentsOfFile: Repository.path("deploy/prometheus/prometheus.yml"), encoding: .utf8
        )
        .replacingOccurrences(of: "127.0.0.1:4318", with: target)
        .replacingOccurrences(of: "15s", with: "1s")
        .replacingOccurrences(of: "# authorization:\n    #", with: "authorization:\n     ")
        .replacingOccurrences(of: "/etc/prometheus/martlet-read-token", with: folder.path("token"))
        try configuration.write(toFile: folder.path("prometheus.yml"), atomically: true, encoding: .utf8)
        process = try ChildProcess(
            .shell,
            [
                "-c", #"exec "$0" "$@" 2>&1"#, Repository.path(".build/prometheus/usr/bin/prometheus"),
                "--config.file=" + folder.path("prometheus.yml"), "--storage.tsdb.path=" + folder.path("prometheus"),
                "--web.listen-address=127.0.0.1:0",
            ])
        // Prometheus logs its address and its readiness in either order.
        var address: String?
        var isReady = false
        var line = ""
        repeat {
            line = await process.readLine()
            if line.contains(#"msg="Listening on""#), let start = line.range(of: "address=") {
                address = "http://" + line[start.upperBound...]
            }
            if line.contains("Server is ready to receive web requests") { isReady = true }
        } while !line.isEmpty && (address == nil || !isReady)
        guard let address else {
            await process.stop(with: SIGKILL)
            throw await ChildProcess.Failure(output: process.finish().output)
        }
        self.address = address
        try await waitForScrapes(1)
    }

    /// Returns after five more successful scrapes, a second apart, so that Prometheus has the collector's current figures more
    /// than once. A new series is zero in the first two. The last scrape must have succeeded, because a failed one leaves no figures.
    func scrape() async throws { try await waitForScrapes(5) }

    /// - Parameter number: of the scrapes from now on.
    private func waitForScrapes(_ number: Double) async throws {
        let scrapes = "sum_over_time(up[1h])"
        let before = try await samples(of: scrapes).first?.number ?? 0
        while try await samples(of: "\(scrapes) and up == 1").first?.number ?? 0 < before + number {
            // Prometheus gives no notice of a scrape.
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Returns the result of an instant query.
    func samples(of expression: String) async throws -> [Sample] {
        guard let text = expression.addingPercentEncoding(withAllowedCharacters: .alphanumerics),
            let url = URL(string: "\(address)/api/v1/query?query=\(text)")
        else { throw ChildProcess.Failure(output: expression) }
        let answer = try JSONDecoder().decode(Answer.self, from: try await URLSession.shared.data(from: url).0)
        guard let data = answer.data else {
            throw ChildProcess.Failure(output: "\(expression): \(answer.error ?? answer.status)")
        }
        return data.result
    }

    /// Returns promtool's complaints about a page; empty if there are none.
    static func lint(_ page: String, folder: TemporaryFolder) async throws -> String {
        try page.write(toFile: folder.path("page"), atomically: true, encoding: .utf8)
        let promtool = Repository.path(".build/prometheus/usr/bin/promtool")
        let end = try await ChildProcess(
            .shell, ["-c", #"exec "$0" check metrics 2>&1 <"$1""#, promtool, folder.path("page")]
        ).finish()
        return end.status == 0 ? end.output : "status \(end.status): \(end.output)"
    }
}

extension ChildProcess.Program {
    fileprivate static let shell = ChildProcess.Program(url: URL(fileURLWithPath: "/bin/sh"))
}
