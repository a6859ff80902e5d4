import Fixtures
import Foundation
import InMemoryLogging
import Logging
import MartletOTLP
import MartletTelemetry
import Testing

@testable import Martlet

extension AgentTests {
    /// Requests of an ended process that are lost before the next process has delivered them. The collector had 20 of
    /// 100.
    @Suite struct EarlierLossTests {
        enum Damage: CaseIterable {
            case cut
            case emptied
            case changed
            case removed

            var reason: DropReason { self == .removed ? .gone : .corrupt }

            func apply(to file: URL) throws {
                var bytes = try Data(contentsOf: file)
                switch self {
                case .cut: try bytes.prefix(10).write(to: file)
                case .emptied: try Data().write(to: file)
                case .changed:
                    bytes[0] ^= 1
                    try bytes.write(to: file)
                case .removed: try FileManager.default.removeItem(at: file)
                }
            }
        }

        @Test(arguments: Damage.allCases)
        func damagedBatchIsReportedAsLost(damage: Damage) async throws {
            let (directory, log) = (try TemporaryFolder(), InMemoryLogHandler())
            let service = directory.url.appendingPathComponent("shop")
            try damage.apply(to: Self.leaveBatch(in: service))
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, _ in
                for _ in 1...2 { await agent.flush() }
                #expect(collector.received.compactMap(\.batch).filter { $0.hasPrefix("dead/") } == ["dead/3/metrics"])
                let ledger = try Self.ledger(in: collector)
                #expect(ledger == Self.ledger(of: damage.reason))
                #expect(agent.status.ledger == .init())
            }
            // Damaged files stay in quarantine for some days.
            if damage == .removed { #expect(directory.contents() == ["shop"]) }
            #expect(Self.warnings(in: log) == 1)
        }

        @Test func refusedLastBatchIsReportedAsLost() async throws {
            let (directory, log) = (try TemporaryFolder(), InMemoryLogHandler())
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, _ in
                // After this flush the agent waits for the next one.
                await agent.flush()
                _ = try Self.leaveBatch(in: directory.url.appendingPathComponent("shop"))
                collector.answer(422)
                await agent.flush()
                let ledger = try Self.ledger(in: collector)
                #expect(ledger == Self.ledger(of: .rejected))
            }
            #expect(directory.contents() == ["shop"])
            #expect(Self.warnings(in: log) == 1)
        }

        // MARK: -

        /// Leaves an instance with 20 delivered and 80 waiting requests. Returns the file of these.
        private static func leaveBatch(in service: URL) throws -> URL {
            let body = [UInt8](repeating: 7, count: 100)
            let files = [(1, 20), (2, 80)].map { sequence, requests in
                BatchFile(sequence: sequence, signal: .metrics, requests: requests, isCompressed: false, body: body)
            }
            var dead = try Outbox.create(instance: "dead", in: service)
            for file in files { try dead.store(body, as: file) }
            dead.settle(files[0], as: .delivered(rejected: 0))
            return dead.directory.appendingPathComponent(files[1].name)
        }

        private static func ledger(of reason: DropReason) -> [String: Int64] {
            ["captured": 100, "delivered": 20, "waiting": 0, reason.rawValue: 80]
        }

        /// Returns the last ledger of the dead instance, by state, or by reason for dropped requests.
        private static func ledger(in collector: StubCollector) throws -> [String: Int64] {
            let post = try #require(collector.accepted["dead/3/metrics"])
            let metrics = try OTLPExportMetricsServiceRequest(serializedBytes: post.plainBody).resourceMetrics
                .flatMap(\.scopeMetrics).flatMap(\.metrics)
            let points = metrics.filter { $0.name == MetricName.ledger }.flatMap(\.sum.dataPoints)
            return points.reduce(into: [:]) { ledger, point in
                let names = [AttributeName.ledgerReason, AttributeName.ledgerState].compactMap { name in
                    point.attributes.first { $0.key == name }?.value.stringValue
                }
                ledger[names.first ?? ""] = point.asInt
            }
        }

        private static func warnings(in log: InMemoryLogHandler) -> Int {
            log.entries.filter { "\($0.message)".contains("of an earlier process are lost") }.count
        }
    }
}
