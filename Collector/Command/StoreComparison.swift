import MartletReports
import MartletStorage

/// The requests of each service in two stores. A client's and a server's stay apart.
struct StoreComparison {
    private struct Name: Hashable {
        var service: String
        var kind: String
    }

    /// A week, in nanoseconds: no answer is long, and weeks begin at the start of an hour.
    private static let step: UInt64 = 7 * 24 * 3600 * 1_000_000_000

    private var requests: [Name: (copied: UInt64, taken: UInt64)] = [:]

    /// - Parameters:
    ///   - copied: the store that was copied.
    ///   - taken: the store that took the copy, and may have other requests too.
    ///   - times: the first and the last end of an interval in the first store, in nanoseconds since 1970; `nil` if it is empty.
    init(of copied: any Storage, with taken: any Storage, in times: ClosedRange<Int64>?) async throws {
        guard let times else { return }
        let last = UInt64(clamping: times.upperBound)
        var from = UInt64(clamping: times.lowerBound - 1) / Self.step * Self.step
        while from < last {
            let window = TimeWindow(from: from, to: from + min(Self.step, .max - from))
            for (name, count) in try await Self.counts(of: copied, in: window) {
                requests[name, default: (0, 0)].copied &+= count
            }
            for (name, count) in try await Self.counts(of: taken, in: window) {
                requests[name, default: (0, 0)].taken &+= count
            }
            from = window.to
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
            "\(TerminalText.plain(name.service)), \(name.kind): \(counts.copied) requests in the file, \(counts.taken) in ClickHouse\n"
        }.joined()
    }
}
