import ArgumentParser
import Foundation
import Hummingbird

/// A mistake of a version, for the demo to show.
enum Flaw: String, CaseIterable, ExpressibleByArgument {
    /// Before an order is shown, its receipt is drawn on all threads by code that waits for a disk.
    case blocking
    /// The list of products asks the catalog for the reviews of each product, one after the other.
    case manyCalls = "many-calls"
    /// A request to the catalog that failed is sent again at once, up to five times in all.
    case retries
}

extension Flaw? {
    /// How often a request to the catalog is sent at most.
    var attempts: Int { self == .retries ? 5 : 1 }

    func loadReviews(of products: [Product], from catalog: Catalog) async throws {
        guard self == .manyCalls else { return }
        for product in products { _ = try? await catalog.reviews(of: product.id) }
    }

    func drawReceipt() async {
        guard self == .blocking else { return }
        await withTaskGroup { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount { group.addTask { waitForDisk() } }
        }
    }
}

/// Blocks the thread, as reading a file does on a slow disk.
private func waitForDisk() { usleep(400_000) }

/// Calls the body until the service behind it answers, but at most so many times.
func trying<Value>(_ attempts: Int, _ body: () async throws -> Value) async throws -> Value {
    for _ in 1..<attempts {
        do { return try await body() } catch let error as HTTPError where error.status == .badGateway {}
    }
    return try await body()
}
