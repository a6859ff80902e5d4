import Fixtures
import Foundation
import Testing

/// Services whose process lacks what the agent needs.
struct LackTests {
    let folder: TemporaryFolder
    let shop = ShopServer()

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func requestsAreCountedWithoutPhasesAndWithOneWarning() async throws {
        let library = try await Preloaded.withoutLibcurl.library(in: folder)
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

    /// A container at its limit of processes.
    @Test func serviceRunsUncapturedWithOneWarningIfTheAgentsThreadCannotBeMade() async throws {
        let library = try await Preloaded.withoutThreads.library(in: folder)
        let probe = Probe(folder: folder, collector: "http://127.0.0.1:1")
        try await shop.run { server in
            let service = try probe.start(server, requests: 5, environment: ["LD_PRELOAD": library])
            let (status, output, errors) = await service.finish()
            #expect(status == 0, "\(errors)")
            #expect(output.contains("\"captured\":0"), "\(output)")
            #expect(errors.components(separatedBy: "the agent's thread cannot be made").count == 2, "\(errors)")
        }
    }
}
