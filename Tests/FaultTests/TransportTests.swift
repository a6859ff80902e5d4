import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// Uploads over a transport other than the chosen one.
    @Suite(.serialized) struct TransportTests {
        @Test(arguments: [nil, "libcurl"]) func uploadsUseURLSessionIfLibcurlIsNotFound(asked: String?)
            async throws
        {
            try await Scene.run { scene in
                let hidden = try await Preloaded.withoutLibcurl.library(in: scene.folder)
                let collector = try await scene.collector()
                let service = try scene.start(
                    "life", collector: collector.port, requests: 200,
                    environment: ["LD_PRELOAD": hidden, "MARTLET_TRANSPORT": asked ?? ""])
                let (status, output, errors) = await service.finish()
                #expect(status == 0)
                let end = try JSONDecoder().decode(AgentReport.self, from: Data(output.utf8))
                #expect(end.lost == 0 && end.waiting == 0, "\(end); \(errors)")
                #expect(errors.components(separatedBy: "Uploads go over URLSession").count == 2, "\(errors)")
                try await scene.expectEverythingCountedOnce()
            }
        }
    }
}
