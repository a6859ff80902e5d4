import Fixtures
import Foundation
import FoundationNetworking
import InMemoryLogging
import Logging
import Testing

@testable import Martlet

extension AgentTests {
    /// The rules file while an agent runs.
    @Suite struct RulesFileTests {
        @Test func changedFileIsReloadedAndAnErrorDisablesAllRules() async throws {
            let folder = try TemporaryFolder()
            let file = folder.path("rules.json5")
            func write(_ text: String) throws {
                try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
            }
            try write("{ rules: [ { name: 'drill', match: { path: '/hello/*' }, respond: { status: 503 } } ] }")
            let log = InMemoryLogHandler()
            try await withAgent({
                $0.rulesFile = URL(fileURLWithPath: file)
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, base in
                let status: @Sendable () async throws -> Int? = {
                    let (_, response) = try await URLSession.shared.data(from: base / "hello/x")
                    return (response as? HTTPURLResponse)?.statusCode
                }
                #expect(agent.status.rules == 1)
                let drilled = try await status()
                #expect(drilled == 503)

                try Data("{ rules: [ { match: { pth: '/x' }, block: true } ] }".utf8)
                    .write(to: URL(fileURLWithPath: file), options: .atomic)
                await agent.flush()
                #expect(agent.status.rules == 0)
                let plain = try await status()
                #expect(plain == 200)

                try Data("{ rules: [] }".utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
                await agent.flush()
                await agent.flush()
                let warnings = log.entries.filter { "\($0.message)".hasPrefix("Rules: ") }.map { "\($0.message)" }
                #expect(
                    warnings == [
                        "Rules: \(file): 1 in force, which change requests of this service: drill",
                        "Rules: \(file): rule 1, match.pth: unknown key; known are host, port, path, method, header, "
                            + "share; no rule is in force",
                        "Rules: \(file): no rule is in force any more",
                    ])
                let rules = try collector.points().map { point in
                    point.attributes.first { $0.key == "martlet.rule" }?.value.stringValue
                }
                #expect(Set(rules) == ["drill", nil])
            }
        }

        @Test func missingFileGivesOneWarningUntilItExists() async throws {
            let folder = try TemporaryFolder()
            let file = URL(fileURLWithPath: folder.path("rules.json5"))
            let log = InMemoryLogHandler()
            try await withAgent({
                $0.rulesFile = file
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, _, _ in
                await agent.flush()
                #expect(agent.status.rules == 0)
                try Data("{ rules: [ { match: {}, delay: 0.01 } ] }".utf8).write(to: file, options: .atomic)
                await agent.flush()
                #expect(agent.status.rules == 1)
                #expect(log.entries.count { "\($0.message)".contains("the file is missing or cannot be read") } == 1)
            }
        }

        /// An editor may write a file in place, twice within a second.
        @Test func aChangeOfAFractionOfASecondIsAChange() throws {
            let folder = try TemporaryFolder()
            let file = URL(fileURLWithPath: folder.path("rules.json5"))
            var rules = RulesFile(file)
            for (text, nanoseconds) in [("{ rules: [] } ", 1), ("{ rules:  [] }", 2)] as [(String, Int)] {
                try Data(text.utf8).write(to: file)
                let time = timespec(tv_sec: 1_800_000_000, tv_nsec: nanoseconds)
                #expect(utimensat(AT_FDCWD, file.path, [time, time], 0) == 0)
                #expect(rules.readIfChanged() != nil)
                #expect(rules.readIfChanged() == nil)
            }
        }
    }
}
