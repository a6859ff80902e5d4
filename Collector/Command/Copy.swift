import ArgumentParser
import MartletClickHouseStorage
import MartletReports
import MartletSQLiteStorage
import MartletStorage

struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies a store from a file to ClickHouse.",
        discussion: """
            Stop the collector of the file first, and do not start it again before the copy is complete; agents keep their batches \
            until a collector answers. Collectors on ClickHouse may start once the senders are copied; the command prints a line. \
            If the copy is interrupted, run the command again: it continues where it stopped, and nothing is counted twice. At the \
            end it compares the requests of both stores. It does not change the file.
            """)

    @Option(name: .customLong("from"), help: "The store to copy, sqlite:PATH.")
    var source: String

    @Option(
        name: .customLong("to"), help: "The store to copy it to, clickhouse:http://HOST:8123/DATABASE, after migrate.")
    var target: String

    func run() async throws {
        guard case .sqlite(let path) = try StoreLocation(source, option: "--from"),
            case .clickHouse(let location) = try StoreLocation(target, option: "--to")
        else { throw ValidationError("copy needs --from sqlite:PATH and --to clickhouse:http://HOST:8123/DATABASE") }
        try await reportingFailure {
            let contents = try SQLiteContents(of: path)
            let copy = try await ClickHouseCopy(
                of: contents.id, try await contents.fingerprint(), to: location, StoreLocation.credentials(),
                now: SQLiteStorage.systemClock)
            for table in CopiedTable.allCases {
                try await copyTable(table, of: contents, to: copy)
                if table == .senders { Output.line("collectors on ClickHouse may start now") }
            }
            try await reportingFailure("everything is copied, but the stores could not be compared: ") {
                try await compare(contents, at: path)
            }
        }
    }

    /// The number of parts after which a line tells how far the copy has got.
    private static let partsOfLine = 50

    private func copyTable(_ table: CopiedTable, of contents: SQLiteContents, to copy: ClickHouseCopy) async throws {
        var (position, rows, damaged, parts) = (try await copy.position(in: table), 0, 0, 0)
        let isResumed = position > 0
        while let part = try await contents.part(of: table, after: position, hoursUntil: copy.hoursUntil) {
            try await copy.store(part, of: table)
            (position, parts) = (part.last, parts + 1)
            rows += part.count
            damaged &+= part.damaged
            if parts % Self.partsOfLine == 0 { Output.line("\(table.title): \(rows) so far") }
        }
        Output.line("\(table.title): \(rows) copied\(isResumed ? " after those of an earlier run" : "")")
        if damaged > 0 { Output.error("\(table.title): \(damaged) are damaged and were left out") }
    }

    private func compare(_ contents: SQLiteContents, at path: String) async throws {
        let weeks = try await contents.times(by: StoreComparison.step)
        let comparison = try await StoreComparison(
            of: try SQLiteStorage(readingFrom: path), with: try await StoreLocation(target).openForReading(), in: weeks)
        try Output.answer(comparison.text)
        guard comparison.isComplete else {
            Output.error("ClickHouse has fewer requests than the file")
            throw ExitCode.failure
        }
    }
}

extension CopiedTable {
    fileprivate var title: String {
        switch self {
        case .batches: "streams of batch numbers"
        case .senders: "senders"
        case .points: "points"
        case .details: "kept requests and spans"
        case .calls: "calls between services"
        }
    }
}

extension CopiedPart {
    fileprivate var count: Int {
        switch rows {
        case .batches(let rows): rows.count
        case .senders(let rows): rows.count
        case .points(let rows): rows.reduce(0) { $0 + $1.points.count }
        case .details(let rows): rows.count
        case .calls(let rows): rows.count
        }
    }
}

/// The requests of each service in two stores. A client's and a server's stay apart.
struct StoreComparison {
    private struct Name: Hashable {
        var service: String
        var kind: String
    }

    /// The time of one question, in nanoseconds: a week is a number of whole hours, and its answer is short.
    static let step: Int64 = 7 * 24 * 3600 * 1_000_000_000

    private var requests: [Name: (copied: UInt64, taken: UInt64)] = [:]

    /// - Parameters:
    ///   - copied: the store that was copied.
    ///   - taken: the store that took the copy, and may have other requests too.
    ///   - weeks: the starts of the weeks that are compared, in nanoseconds since 1970.
    init(of copied: any Storage, with taken: any Storage, in weeks: [Int64]) async throws {
        for week in weeks {
            let from = UInt64(clamping: week)
            let window = TimeWindow(from: from, to: from + UInt64(Self.step))
            for (name, count) in try await Self.counts(of: copied, in: window) {
                requests[name, default: (0, 0)].copied &+= count
            }
            for (name, count) in try await Self.counts(of: taken, in: window) {
                requests[name, default: (0, 0)].taken &+= count
            }
        }
    }

    private static func counts(of storage: any Storage, in window: TimeWindow) async throws -> [Name: UInt64] {
        let answer = try await storage.statistics(StatisticsQuery(window: window, by: [.service, .kind]))
        return answer.groups.reduce(into: [:]) { counts, group in
            counts[Name(service: group.values[0] ?? "", kind: group.values[1] ?? "")] = group.count
        }
    }

    /// Whether the second store has all requests of the first.
    var isComplete: Bool { requests.values.allSatisfy { $0.taken >= $0.copied } }

    /// A line for each service and kind.
    var text: String {
        requests.sorted { ($0.key.service, $0.key.kind) < ($1.key.service, $1.key.kind) }.map { name, counts in
            let service = TerminalText.plain(name.service)
            return "\(service), \(name.kind): \(counts.copied) requests in the file, \(counts.taken) in ClickHouse\n"
        }.joined()
    }
}
