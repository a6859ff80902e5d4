import Foundation

/// A time of RFC 3339 (section 5.6): `2026-11-21T09:00:00Z`, `2026-11-21T10:00:00.25+01:00`.
///
/// The leap second `:60` is refused, because Unix time has none; `24:00` is no time of RFC 3339.
enum TimestampReader {
    /// Returns seconds since 1970, and nanoseconds beside them; finer digits are cut off. Returns `nil` if the text is no
    /// such time.
    static func parse(_ text: String) -> (seconds: Int, nanoseconds: Int)? {
        let form = /([0-9-]{10}T[0-9:]{8})(?:\.([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))/
        guard text.utf8.allSatisfy({ $0 < 128 }), let parts = text.uppercased().wholeMatch(of: form)?.output,
            let time = seconds("\(parts.1)Z"), let hours = Int(parts.4 ?? "0"), hours < 24,
            let minutes = Int(parts.5 ?? "0"), minutes < 60
        else { return nil }
        let offset = (hours * 60 + minutes) * (parts.3 == "-" ? -60 : 60)
        return (time - offset, nanoseconds(parts.2 ?? "0"))
    }

    /// Reads a time in UTC. Foundation takes `24:00` and days that the calendar does not have for later times, which it
    /// writes differently.
    private static func seconds(_ text: String) -> Int? {
        let style = Date.ISO8601FormatStyle()
        guard let date = try? style.parse(text), style.format(date) == text else { return nil }
        return Int(date.timeIntervalSince1970)
    }

    private static func nanoseconds(_ digits: Substring) -> Int {
        Int(digits.prefix(9) + String(repeating: "0", count: max(0, 9 - digits.count))) ?? 0
    }
}
