import Fixtures
import Foundation
import Testing

/// A package outside the repository that depends on it by path, like a user's package.
@Suite struct ConsumerTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func staticallyLinkedServiceIsCountedToo() async throws {
        let shop = ShopServer()
        let program = try await buildStaticConsumer()
        let collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
        let probe = Probe(folder: folder, collector: collector.address)
        try await shop.run { server in
            let result = try await probe.finish(try probe.start(server, requests: 20, program: program))
            #expect(result.captured == 120)
            let report = try await probe.report()
            #expect(report.totals.measures.count == 120)
            #expect(report.totals.measures.failures.count == 60)
        }
    }

    private func buildStaticConsumer() async throws -> ChildProcess.Program {
        let repository = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let package = folder.url.appendingPathComponent("consumer")
        let sources = package.appendingPathComponent("Sources")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: repository.appendingPathComponent("Tests/ProbeService"),
            to: sources.appendingPathComponent("consumer"))
        try manifest(repository).write(
            to: package.appendingPathComponent("Package.swift"), atomically: true, encoding: .utf8)
        let build = try ChildProcess(
            ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/env")),
            ["swift", "build", "--package-path", package.path, "--static-swift-stdlib"],
            environment: ProcessInfo.processInfo.environment)
        let (status, output, errors) = await build.finish()
        guard status == 0 else { throw ChildProcess.Failure(output: output + errors) }
        return ChildProcess.Program(url: package.appendingPathComponent(".build/debug/consumer"))
    }

    private func manifest(_ repository: URL) -> String {
        """
        // swift-tools-version:6.2
        import PackageDescription

        let package = Package(
            name: "consumer",
            dependencies: [.package(name: "martlet", path: "\(repository.path)")],
            targets: [
                .executableTarget(name: "consumer", dependencies: [.product(name: "Martlet", package: "martlet")])
            ]
        )
        """
    }
}
