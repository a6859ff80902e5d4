import ArgumentParser
import Foundation
import FoundationNetworking

@main
struct Shopper: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Visits the storefront and counts its answers.",
        discussion: "Exit codes: 0 if the storefront answered, 1 if it gave no answer at all.")

    @Option(help: "The URL of the storefront.")
    var storefront: URL

    @Option(help: "The number of requests to make.")
    var requests = 1000

    @Option(help: "The number of requests at a time.")
    var concurrency = 16

    @Option(help: "Make so many visits a second instead, at random times, until the end of the program.")
    var pace: Double?

    @Flag(help: "Make one visit instead, which asks for the stock and waits for ever.")
    var waitForStock = false

    func validate() throws {
        guard requests > 0, concurrency > 0, pace ?? 1 > 0 else {
            throw ValidationError("--requests, --concurrency and --pace must be above 0.")
        }
    }

    func run() async throws {
        let session = self.session
        if waitForStock {
            var request = URLRequest(url: storefront.appending(path: "stock"))
            request.timeoutInterval = 86_400
            _ = try? await session.data(for: request)
            return
        }
        if let pace { try await visitForEver(pace, over: session) }
        let visits = await withTaskGroup(of: Visits.self) { group in
            for visitor in 0..<concurrency {
                group.addTask { await visit(startingAt: visitor, over: session) }
            }
            return await group.reduce(into: Visits()) { $0.add($1) }
        }
        print(visits.table)
        // From the exit status, a caller that started before the storefront listens knows to try again.
        guard visits.hasAnswers else { throw ExitCode.failure }
    }

    private var session: URLSession {
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = concurrency
        return URLSession(configuration: configuration)
    }

    /// Makes visits like independent people: the times between them are exponential.
    private func visitForEver(_ pace: Double, over session: URLSession) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                try await Task.sleep(for: .seconds(-log(.random(in: Double.leastNonzeroMagnitude..<1)) / pace))
                let visit = Errand(index: .random(in: 0..<1000)).request(to: storefront)
                group.addTask { _ = try? await session.data(for: visit) }
            }
        }
    }

    private func visit(startingAt first: Int, over session: URLSession) async -> Visits {
        var visits = Visits()
        for index in stride(from: first, to: requests, by: concurrency) {
            let errand = Errand(index: index)
            let answer = try? await session.data(for: errand.request(to: storefront))
            visits.add(errand, status: (answer?.1 as? HTTPURLResponse)?.statusCode)
        }
        return visits
    }
}

extension URL: @retroactive ExpressibleByArgument {
    public init?(argument: String) {
        self.init(string: argument)
    }
}
