import MartletReports
import MartletStorage

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
