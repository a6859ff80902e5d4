import ArgumentParser
import Hummingbird
import Synchronization

/// A mistake of a version, for the demo to show.
enum Flaw: String, CaseIterable, ExpressibleByArgument {
    /// No product can be read, as if the database was away.
    case noDatabase = "no-database"
    /// The receipts of some orders end the process: an index is out of range.
    case crash
    /// Each answer is kept for ever.
    case leak
}

/// Lets a service do what its flaw says, before it answers a request.
struct FlawedVersion: RouterMiddleware {
    let flaw: Flaw
    private let kept = Kept()

    init(_ flaw: Flaw) { self.flaw = flaw }

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        switch flaw {
        case .noDatabase: if context.endpointPath == "/products/{id}" { throw HTTPError(.serviceUnavailable) }
        case .crash: _ = context.parameters.get("id", as: Int.self).map(discount)
        case .leak: kept.add()
        }
        return try await next(request, context)
    }

    /// Returns the discount on an order, in percent. One order in 25 has a level that the table lacks.
    private func discount(ofOrder id: Int) -> Int {
        let discounts = [0, 5, 10]
        let level = id % 250 == 4 ? 3 : id % 3
        return discounts[level]
    }
}

private final class Kept: Sendable {
    private let answers = Mutex<[[UInt8]]>([])

    func add() { answers.withLock { $0.append(Array(repeating: 1, count: 16_384)) } }
}
