import Fixtures
import Foundation
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

extension FaultTests {
    /// Services that end in every way. The next process reports each end once.
    @Suite(.serialized) struct EndTests {
        struct Case: Sendable, CustomTestStringConvertible {
            let ending: String
            /// The part of the process in which it ends.
            var place = "main"
            let cause: EndCause
            var signals: Set<String> = []
            /// Whether the innermost place is a line of the program.
            var hasLine = false

            var testDescription: String { ending }
        }

        private static let traps: Set<String> = ["SIGILL", "SIGTRAP"]
        private static let cases = [
            Case(ending: "exit", cause: .exit), Case(ending: "quit", cause: .killed),
            Case(ending: "killed", cause: .killed), Case(ending: "terminated", cause: .killed),
            Case(ending: "aborted", cause: .signal, signals: ["SIGABRT"], hasLine: true),
            Case(ending: "trapped", cause: .signal, signals: traps, hasLine: true),
            Case(ending: "unwrapped", cause: .signal, signals: traps, hasLine: true),
            Case(ending: "outOfBounds", cause: .signal, signals: traps, hasLine: true),
            Case(ending: "overflowed", cause: .signal, signals: traps, hasLine: true),
            Case(ending: "divided", cause: .signal, signals: traps, hasLine: true),
            Case(ending: "wild", cause: .signal, signals: ["SIGSEGV"], hasLine: true),
            Case(ending: "cast", cause: .signal, signals: ["SIGABRT"], hasLine: true),
            Case(ending: "failed", cause: .signal, signals: traps, hasLine: true),
            // After an `await` the program goes on in any thread, and only one that has begun a request has an alternate stack.
            Case(ending: "overran", place: "request", cause: .signal, signals: ["SIGSEGV"], hasLine: true),
        ]

        @Test(arguments: cases) func endIsReportedOnceWithItsCause(of one: Case) async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let gate = try Gate(collector: collector.port) { _, _ in .pass }
                let service = try scene.start(
                    "ended", collector: gate.port, requests: 20, ["--end", one.ending, "--in", one.place])
                let (status, _, errors) = await service.finish()
                // Swift's own report goes where it went before.
                if one.ending == "trapped" { #expect(errors.contains("a secret"), "\(scene.seed)") }
                #expect((status == -1) == (one.cause == .signal || ["killed", "terminated"].contains(one.ending)))
                let next = try scene.start("next", collector: gate.port, requests: 20)
                _ = try await scene.end(of: next)
                try await scene.drain(collector: gate.port)
                try await scene.expectEverythingCountedOnce()

                let ends = try gate.ends()
                #expect(ends.contains { $0.cause == EndCause.clean.rawValue }, "\(ends)")
                let reported = ends.filter { $0.cause != EndCause.clean.rawValue }
                let end = try #require(reported.first, "\(scene.seed)")
                #expect(reported.count == 1 && end.cause == one.cause.rawValue, "\(one.ending): \(ends)")
                #expect(one.signals.isEmpty ? end.signal == nil : one.signals.contains(end.signal ?? ""), "\(end)")
                #expect(end.file == (one.hasLine ? "FaultProgram/Ending.swift" : nil), "\(end)")
                #expect(!end.text.contains("a secret"))
                #expect(scene.waiting == [], "\(scene.seed)")
            }
        }

        /// The collector does not answer, so the shutdown does not come to its end. Its last batch is stored.
        @Test func processKilledWhileItDeliversItsLastBatchHasEndedCleanly() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let hanging = try Gate(collector: collector.port) { _, _ in .hang }
                let service = try scene.start(
                    "ended", collector: hanging.port, requests: 20, ["--end", "leftBehind"],
                    environment: ["MARTLET_EXPORT_TIMEOUT": "60s", "MARTLET_INTERVAL": "10s"])
                try await scene.wait(while: service) { hanging.uploads.contains { (try? $0.ends().isEmpty) == false } }
                await service.stop(with: SIGKILL)
                hanging.close()
                let gate = try Gate(collector: collector.port) { _, _ in .pass }
                try await scene.drain(collector: gate.port)
                let own = try #require(try hanging.ends().first?.instance)
                // The process that delivers the rest may report its end, too.
                let ends = try gate.ends()
                #expect(ends.contains { $0.instance == own } && ends.allSatisfy { $0.cause == "clean" }, "\(ends)")
                #expect(Set(ends.map(\.batch)).count == Set(ends.map(\.instance)).count, "\(ends)")
            }
        }

        /// The process exits before the agent's thread has begun the shutdown, or while it goes on.
        @Test func exitAfterAShutdownWithoutTimeIsAnOrderlyEnd() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let gate = try Gate(collector: collector.port) { _, _ in .pass }
                let service = try scene.start("ended", collector: gate.port, requests: 20, ["--end", "hurried"])
                #expect(await service.finish().status == 0)
                _ = try await scene.end(of: try scene.start("next", collector: gate.port, requests: 20))
                try await scene.drain(collector: gate.port)
                let ends = try gate.ends()
                #expect(!ends.isEmpty && ends.allSatisfy { $0.cause == "clean" }, "\(ends)")
                try await scene.expectEverythingCountedOnce()
            }
        }

        /// In a service group the agent is asked to stop after all other services, and one of them takes too long.
        @Test func serviceKilledWhileItsWorkGoesOnAfterSIGTERMHadNoTime() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let gate = try Gate(collector: collector.port) { _, _ in .pass }
                let service = try scene.start(
                    "ended", collector: gate.port, ["--lifecycle", "--end", "lingered"])
                try await scene.wait(while: service, requests: 20)
                kill(service.pid, SIGTERM)
                #expect(await service.readLine() == "stopping")
                await service.stop(with: SIGKILL)
                try await scene.drain(collector: gate.port)
                let ends = try gate.ends()
                // The process that delivers it may report its end, too.
                #expect(ends.map(\.cause).filter { $0 != "clean" } == ["no_time"], "\(ends)")
            }
        }

        @Test func endIsReportedOnceAlthoughItsReporterIsKilled() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let gate = try Gate(collector: collector.port) { _, _ in .pass }
                let service = try scene.start("ended", collector: gate.port, requests: 20, ["--end", "trapped"])
                _ = await service.finish()
                for number in 0..<(isFull ? 20 : 4) {
                    let reporter = try scene.start("reporter-\(number)", collector: gate.port, requests: 1_000_000)
                    try await scene.wait(
                        while: reporter, requests: scene.server.total + scene.seed.draw(number, in: 1...60))
                    await reporter.stop(with: SIGKILL)
                }
                try await scene.drain(collector: gate.port)
                let ends = try gate.ends()
                let instances = Dictionary(grouping: ends, by: \.instance)
                // A batch that was sent again is the same batch.
                #expect(instances.values.allSatisfy { Set($0.map(\.batch)).count == 1 }, "\(ends)")
                #expect(Set(ends.filter { $0.cause == "signal" }.map(\.instance)).count == 1, "\(ends)")
                #expect(instances.count { $0.value.contains { $0.cause == "killed" } } == (isFull ? 20 : 4), "\(ends)")
                try await scene.expectEverythingCountedOnce()
            }
        }

        @Test(
            .enabled(
                if: TestedTransport.environment.isEmpty, "after an upload over URLSession a child's URLSession is dead")
        )
        func crashOfAForkedChildIsNotThatOfItsParent() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let gate = try Gate(collector: collector.port) { _, _ in .pass }
                #expect(try await scene.play("crashing", collector: gate.port, 20) == "1")
                try await scene.drain(collector: gate.port)
                try await scene.expectEverythingCountedOnce()
                let ends = try gate.ends()
                #expect(Set(ends.map(\.cause)) == ["clean", "signal"], "\(ends)")
                let children = Set(ends.filter { $0.cause == "signal" }.map(\.instance))
                #expect(children.count == 1 && ends.contains { !children.contains($0.instance) }, "\(ends)")
            }
        }

        @Test func serviceThatDoesNotWantItLeavesNoRecord() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let gate = try Gate(collector: collector.port) { _, _ in .pass }
                let off = ["MARTLET_CRASHES": "off"]
                let service = try scene.start(
                    "ended", collector: gate.port, requests: 20, ["--end", "trapped"], environment: off)
                let (status, _, errors) = await service.finish()
                #expect(status == -1 && errors.contains("a secret"))
                #expect(!scene.waiting.contains { $0.hasSuffix("/process") })
                try await scene.drain(collector: gate.port)
                #expect(try gate.ends().allSatisfy { $0.cause == "clean" }, "\(scene.seed)")
                try await scene.expectEverythingCountedOnce()
            }
        }
    }
}

/// The end of a process, as the collector gets it.
private struct ReportedEnd: Sendable {
    let batch: String
    let cause: String
    let instance: String
    let signal: String?
    let file: String?
    /// All of the point.
    let text: String

    init(_ point: OTLPNumberDataPoint, in batch: String) {
        let attributes = point.attributes.reduce(into: [:]) { $0[$1.key] = $1.value.stringValue }
        self.batch = batch
        cause = attributes["martlet.reason"] ?? ""
        instance = attributes["martlet.ended.instance"] ?? ""
        (signal, file) = (attributes["martlet.ended.signal"], attributes["code.file.path"])
        text = point.textFormatString()
    }
}

extension Gate {
    /// The ends in all uploads. An upload that was repeated counts again.
    fileprivate func ends() throws -> [ReportedEnd] { try uploads.flatMap { try $0.ends() } }
}

extension Gate.Upload {
    fileprivate func ends() throws -> [ReportedEnd] {
        guard message.isMetrics else { return [] }
        return try OTLPExportMetricsServiceRequest(serializedBytes: Gzip.decompress(message.body, limit: 1 << 24))
            .resourceMetrics.flatMap(\.scopeMetrics).flatMap(\.metrics).filter { $0.name == "martlet.process.end" }
            .flatMap(\.sum.dataPoints).map { ReportedEnd($0, in: message.batch) }
    }
}
