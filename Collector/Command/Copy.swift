import ArgumentParser
import MartletClickHouseStorage
import MartletReports
import MartletSQLiteStorage
import MartletStorage

struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies a store that is a file into one on ClickHouse.",
        discussion: """
            The collector of the file must be stopped; agents keep their batches until another one answers. Collectors on \
            ClickHouse may start once the numbers of batches are copied, of which a line tells. A copy that was interrupted goes \
            on where it stopped when the command is run again, and nothing counts twice. At the end the requests of both stores \
            are compared. The file stays as it is.
            """)

    @Option(name: .customLong("from"), help: "The store that is copied, sqlite:PATH.")
    var source: String

    @Option(
        name: .customLong("to"), help: "The store that takes it, clickhouse:http://HOST:8123/DATABASE, after migrate.")
    var target: String

    func run() async throws {
        let path = try StoreLocation.path(source)
        guard case .clickHouse(let location) = try StoreLocation(target) else {
            throw ValidationError("--to must be clickhouse:http://HOST:8123/DATABASE")
        }
        try await reportingFailure {
            let contents = try SQLiteContents(of: path)
            let copy = try await ClickHouseCopy(
                of: contents.id, to: location, StoreLocation.credentials, now: SQLiteStorage.systemClock)
            for table in CopiedTable.allCases { try await copyTable(table, of: contents, to: copy) }
            let stores = (try SQLiteStorage(readingFrom: path), try await StoreLocation(target).openForReading())
            let comparison = try await StoreComparison(of: stores.0, with: stores.1, in: try await contents.times())
            try Output.answer(comparison.text)
            guard comparison.isComplete else {
                Output.error("ClickHouse has fewer requests than the file")
                throw ExitCode.failure
            }
        }
    }

    private func copyTable(_ table: CopiedTable, of contents: SQLiteContents, to copy: ClickHouseCopy) async throws {
        var (position, rows, damaged) = (try await copy.position(in: table), 0, 0)
        let isResumed = position > 0
        while let part = try await contents.part(of: table, after: position, hoursUntil: copy.hoursUntil) {
            try await copy.store(part, of: table)
            position = part.last
            rows += part.count
            damaged += part.damagedPoints
        }
        Output.line("\(table.name): \(rows) copied\(isResumed ? " after those of an earlier run" : "")")
        if damaged > 0 { Output.error("\(damaged) points of the file are damaged and were left out") }
    }
}

extension CopiedTable {
    fileprivate var name: String {
        switch self {
        case .batches: "streams of batch numbers"
        case .senders: "senders"
        case .points: "points"
        case .details: "kept requests and spans"
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
        }
    }

    fileprivate var damagedPoints: Int {
        guard case .points(let rows) = rows else { return 0 }
        return rows.reduce(0) { $0 + $1.damaged }
    }
}
