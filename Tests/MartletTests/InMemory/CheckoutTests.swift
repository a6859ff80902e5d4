import Fixtures
import Foundation
import FoundationNetworking
import Hummingbird
import Martlet
import Testing

/// A service in its own tests: the code under test.
private struct Checkout {
    let prices: URL

    /// Starts the agent, as the service's `main` does.
    static func start(prices: URL) -> (Checkout, MartletAgent) { (Checkout(prices: prices), .start()) }

    func total(of items: [String]) async throws -> Int {
        var total = 0
        for item in items {
            let (data, _) = try await URLSession.shared.data(from: prices.appendingPathComponent("prices/\(item)"))
            total += Int(String(decoding: data, as: UTF8.self)) ?? 0
        }
        return total
    }
}

/// The code of docs/testing.md, compiled and run.
extension AgentTests {
    @Suite struct CheckoutTests {
        @Test func totalsAreRightWithoutTheAgent() async throws {
            try await withPrices { prices in
                var configuration = MartletConfiguration()
                configuration.isEnabled = false
                let agent = MartletAgent.start(configuration)
                let total = try await Checkout(prices: prices).total(of: ["41", "42"])
                #expect(total == 200)
                await agent.shutdown()
            }
        }

        @Test func everyItemIsRequestedOnce() async throws {
            try await withPrices { prices in
                let agent = MartletAgent.inMemory()
                let (checkout, servicesAgent) = Checkout.start(prices: prices)
                let total = try await checkout.total(of: ["41", "42"])
                #expect(total == 200)
                #expect(agent.requests.map(\.url) == ["\(prices)/prices/41", "\(prices)/prices/42"])
                #expect(agent.requests.allSatisfy { $0.endpoint == "/prices/{id}" && !$0.isFailure })
                await servicesAgent.shutdown()
                await agent.shutdown()
            }
        }
    }

    @Suite struct ParallelCheckoutTests {
        @Test(arguments: [["41"], ["41", "42"], ["41", "42", "43"]])
        func everyItemIsRequestedOnce(items: [String]) async throws {
            try await withPrices { prices in
                try await MartletAgent.inMemory { agent in
                    let (checkout, _) = Checkout.start(prices: prices)
                    let total = try await checkout.total(of: items)
                    #expect(total == 100 * items.count)
                    #expect(agent.requests.count == items.count)
                    #expect(agent.requests.allSatisfy { $0.status == 200 })
                }
            }
        }

        /// Compares line by line, without the indentation.
        @Test func documentContainsThisCode() throws {
            let tests = URL(fileURLWithPath: #filePath)
            let code = try Self.lines(of: tests)
            let document = tests.deletingLastPathComponent().appendingPathComponent("../../../docs/testing.md")
            let blocks = try String(contentsOf: document, encoding: .utf8).components(separatedBy: "```")
                .filter { $0.hasPrefix("swift\n") }
            #expect(blocks.count == 3)
            for block in blocks {
                let lines = block.split(separator: "\n").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
                #expect(code.joined(separator: "\n").contains(lines.joined(separator: "\n")), "\(block)")
            }
        }

        private static func lines(of file: URL) throws -> [String] {
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}

/// Runs `body` with a server that has a price for everything.
private func withPrices(_ body: @escaping @Sendable (URL) async throws -> Void) async throws {
    let router = Router()
    router.get("prices/:item") { _, _ in "100" }
    try await LoopbackServer.run(router, body)
}
