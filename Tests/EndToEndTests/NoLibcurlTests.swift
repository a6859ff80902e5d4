import Fixtures
import Foundation
import Testing

/// A service in whose process libcurl's functions cannot be looked up.
struct NoLibcurlTests {
    let folder: TemporaryFolder
    let shop = ShopServer()

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func requestsAreCountedWithoutPhasesAndOneWarningSaysSo() async throws {
        let library = try await interposer()
        let probe = Probe(folder: folder, collector: "http://127.0.0.1:1")
        try await shop.run { server in
            let service = try probe.start(server, requests: 5, environment: ["LD_PRELOAD": library])
            let (status, output, errors) = await service.finish()
            #expect(status == 0, "\(errors)")
            #expect(output.contains("\"captured\":30"), "\(output)")
            #expect(
                errors.components(separatedBy: "libcurl was not found: requests have no phases").count == 2, "\(errors)"
            )
        }
    }

    private func interposer() async throws -> String {
        let library = folder.path("no_libcurl.so")
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("no_libcurl.c")
        let compiler = try ChildProcess(
            ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/env")),
            ["clang", "-shared", "-fPIC", "-O1", "-o", library, source.path],
            environment: ProcessInfo.processInfo.environment.filter { $0.key == "PATH" })
        let (status, _, errors) = await compiler.finish()
        guard status == 0 else { throw ChildProcess.Failure(output: errors) }
        return library
    }
}
