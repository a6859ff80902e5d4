import Fixtures
import Foundation
import HummingbirdTesting
import MartletFindings
import MartletPrometheus
import MartletReports
import MartletServer
import Testing

/// Findings on the API.
@Suite struct FindingsAPITests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func withOutage(
        isRead: Bool = true, _ body: @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        let store = try await OutageStore(in: folder)
        try await withServer(
            store: store.path, clock: { store.end }, now: { store.now },
            prepare: { server in if isRead { _ = try? await server.findings.tick(now: store.now) } }, body)
    }

    private func report(_ query: String, _ client: any TestClientProtocol) async throws -> FindingsReport {
        let response = try await client.get("/api/v1/findings?since=1h" + query)
        #expect(response.status == .ok, "\(response.text)")
        return try ReportJSON.value(of: FindingsReport.self, in: Data(buffer: response.body))
    }

    @Test func outageIsListed() async throws {
        try await withOutage { client in
            let report = try await report("", client)
            #expect(report.count == 1 && report.isComplete)
            #expect(report.findings.map(\.kind) == [.failing])
            #expect(report.findings.first?.subject.service == "orders")
        }
    }

    @Test func kindsAreRepeatedOrSeparatedByCommas() async throws {
        try await withOutage { client in
            #expect(try await report("&kind=slow,failing", client).count == 1)
            #expect(try await report("&kind=slow&kind=failing", client).count == 1)
            #expect(try await report("&kind=slow", client).count == 0)
            #expect(try await report("&service=users", client).count == 0)
            for query in ["kind=broken", "kind=", "status=503", "since=never"] {
                let answer = try await client.get("/api/v1/findings?" + query)
                #expect(answer.status == .badRequest, "\(query)")
            }
        }
    }

    @Test func metricsHaveEachKindOfTheWatchedEnvironments() async throws {
        try await withOutage { client in
            let lines = try await client.page().lines.filter { $0.hasPrefix("martlet_findings{") }
            let expected = FindingKind.allCases.map { kind in
                "martlet_findings{deployment_environment_name=\"test\",kind=\"\(kind.rawValue)\"} \(kind == .failing ? 1 : 0)"
            }
            #expect(Set(lines) == Set(expected) && lines.count == expected.count, "\(lines)")
        }
    }

    @Test func metricsHaveNoEnvironmentBeforeTheStoreWasRead() async throws {
        try await withOutage(isRead: false) { client in
            let page = try await client.page()
            #expect(page.lines.contains("# TYPE martlet_findings gauge"))
            #expect(!page.lines.contains { $0.hasPrefix("martlet_findings{") })
        }
    }

    /// Prometheus refuses a page with two samples of the same name and labels.
    @Test func environmentsThatDifferOnlyInControlCharactersAreOneSample() {
        let samples = [("a\u{1}", 1), ("a\u{2}", 2), ("", 0)].map { environment, count in
            PrometheusFindings.Sample(environment: environment, kind: "slow", count: count)
        }
        let lines = PrometheusFindings.text(of: samples).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            lines == [
                "martlet_findings{deployment_environment_name=\"a\u{FFFD}\",kind=\"slow\"} 3",
                "martlet_findings{kind=\"slow\"} 0",
            ])
    }

    @Test func answerIsNotCompleteBeforeTheStoreWasRead() async throws {
        try await withOutage(isRead: false) { client in
            let report = try await report("", client)
            #expect(report.count == 0 && !report.isComplete)
        }
    }
}
