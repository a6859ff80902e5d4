import ArgumentParser
import Foundation
import MartletPage
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// Renders views of the page from a store as the collector does, and prints their cost. The first time includes the reading of the rows'
/// pasts, which a collector does once an hour.
struct PageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Makes views of the page of a store.")

    @Argument(help: "The store's file.")
    var path: String

    @Option(help: "The time of the views, in seconds since 1970. (default: now)")
    var now: UInt64?

    @Option(help: "Times that each view is made.")
    var times = 5

    @Option(help: "The name of the view that is made. (default: all)")
    var view: String?

    func run() async throws {
        let now = now.map { $0 * 1_000_000_000 } ?? SystemClock.now()
        let storage = try SQLiteStorage(readingFrom: path)
        let histories = RowHistories(of: storage)
        let service = try await storage.agents(seenSince: 0, limit: 1).agents.first?.resource.service ?? ""
        let endpoint =
            try await storage.values(
                ValuesQuery(
                    .endpoint, window: TimeWindow(from: 0, to: UInt64(Int64.max)),
                    filter: RequestFilter([.service: [service]]),
                    limit: 1)
            ).values.first ?? ""
        let overviews: [(String, [(String, String)])] = [
            ("overview, 1 h", []), ("overview, 1 h, compared with nothing", [("compare", "off")]),
            ("overview, 1 h, one service", [("service", service)]), ("overview, 24 h", [("since", "24h")]),
        ]
        for (name, parameters) in overviews {
            try await measure(name) {
                try await Overview(try PageRequest(.overview, parameters, now: now), in: storage, histories).html
            }
        }
        let endpoints: [(String, [(String, String)])] = [
            ("endpoint, 30 d", [("service", service), ("endpoint", endpoint)]),
            ("endpoint, 30 d, all of a service", [("service", service)]), ("endpoint, 30 d, all of all", []),
        ]
        for (name, parameters) in endpoints {
            let pageRequest = try PageRequest(.endpoint, parameters + [("since", "30d")], now: now)
            try await measure(name) { try await Endpoint(pageRequest, in: storage, histories).html }
        }
        try await measure("requests, 24 h") {
            try await RequestList(try PageRequest(.requests, [("since", "24h")], now: now), in: storage).html
        }
    }

    private func measure(_ name: String, _ make: () async throws -> HTML) async throws {
        guard view == nil || view == name else { return }
        for _ in 0..<times {
            let (cpu, start) = (ProcessCost.cpuSeconds, ContinuousClock.now)
            let bytes = try await make().bytes.count
            let wall = (ContinuousClock.now - start) / .milliseconds(1)
            print(
                String(
                    format: "%@: %.0f ms, %.0f ms of CPU, %d bytes, peak %d MiB", name, wall,
                    (ProcessCost.cpuSeconds - cpu) * 1000, bytes, ProcessCost.peakMebibytes))
        }
    }
}
