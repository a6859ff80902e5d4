import GRDB
import MartletStorage
import MartletTelemetry

extension CopiedDetail {
    private static let maxRows = 2_000

    static func part(after number: Int64, in db: Database) throws -> CopiedPart? {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT * FROM detail WHERE id > ? ORDER BY id LIMIT \(maxRows)", arguments: [number])
        var (found, last, damaged) = ([CopiedDetail](), Int64?.none, 0)
        var resources: [Int64: TelemetryResource] = [:]
        while let row = try rows.next() {
            let (number, sender, received): (Int64, Int64, Int64) = (row["id"], row["resource_id"], row["received"])
            last = number
            if resources[sender] == nil { resources[sender] = try ResourceRows.find(sender, in: db) }
            // A row that cannot be read is left out, however its texts are damaged.
            if let span = try? DetailRows.decode(row), let resource = resources[sender] {
                found.append(
                    CopiedDetail(
                        number: number, resource: resource, span: span, received: UInt64(clamping: received)))
            } else {
                damaged += 1
            }
        }
        return last.map { CopiedPart(.details(found), last: $0, damaged: damaged) }
    }
}
