import Foundation
import MartletTelemetry

/// TIME as people write it: RFC 3339, or a length of time ago.
package enum TimeText {
    /// `nil` when the text is neither, or lies before 1970 or past 2255.
    package static func parse(_ text: String, now: UnixNanoseconds) -> UnixNanoseconds? {
        if let length = nanoseconds(text) { return length <= now ? now - length : nil }
        guard let time = TimestampReader.parse(text), (0..<9_000_000_000).contains(time.seconds) else { return nil }
        return UnixNanoseconds(time.seconds) * 1_000_000_000 + UnixNanoseconds(time.nanoseconds)
    }

    /// RFC 3339 in UTC, whole seconds.
    package static func format(_ time: UnixNanoseconds) -> String {
        Date(timeIntervalSince1970: Double(time / 1_000_000_000)).formatted(.iso8601)
    }

    /// A length of time: `500ms`, `90s`, `30m`, `1h`, `7d`. `nil` when the text is none.
    package static func nanoseconds(_ text: String) -> UInt64? {
        let units: [(String, UInt64)] = [
            ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
            ("d", 86_400_000_000_000),
        ]
        guard let (unit, length) = units.first(where: { text.hasSuffix($0.0) }),
            let count = UInt64(text.dropLast(unit.count))
        else { return nil }
        let (result, overflow) = count.multipliedReportingOverflow(by: length)
        return overflow ? nil : result
    }
}
