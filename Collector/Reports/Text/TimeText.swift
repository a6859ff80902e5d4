import Foundation
import MartletTelemetry

/// A time as people write it: RFC 3339, or a duration before now.
package enum TimeText {
    /// Returns `nil` if the text is neither, or if the time is before 1970 or after 2255.
    package static func parse(_ text: String, now: UnixNanoseconds) -> UnixNanoseconds? {
        if let length = nanoseconds(text) { return length <= now ? now - length : nil }
        guard let time = timestamp(text.uppercased()), (0..<9_000_000_000).contains(time.seconds) else { return nil }
        return UnixNanoseconds(time.seconds) * 1_000_000_000 + time.nanoseconds
    }

    private static let utc = Date.ISO8601FormatStyle()

    /// Returns the time in RFC 3339, in UTC and whole seconds.
    package static func format(_ time: UnixNanoseconds) -> String {
        Date(timeIntervalSince1970: Double(time / 1_000_000_000)).formatted(utc)
    }

    /// Returns the time in RFC 3339, in UTC, with as many digits of the second as it needs.
    package static func exact(_ time: UnixNanoseconds) -> String {
        let nanoseconds = String(time % 1_000_000_000 + 1_000_000_000).dropFirst()
        guard let last = nanoseconds.lastIndex(where: { $0 != "0" }) else { return format(time) }
        return "\(format(time).dropLast()).\(nanoseconds[...last])Z"
    }

    /// Returns a time of ``exact(_:)`` in whole seconds, for people.
    package static func inSeconds(_ text: String) -> String { parse(text, now: 0).map(format) ?? text }

    /// Reads a time of RFC 3339 (section 5.6) in capitals, such as `2026-11-21T10:00:00.25+01:00`, as seconds since 1970 and the
    /// nanoseconds of the second; finer digits are cut off. Refuses the leap second `:60`, because Unix time has none.
    private static func timestamp(_ text: String) -> (seconds: Int, nanoseconds: UInt64)? {
        guard let seconds = seconds("\(text.prefix(19))Z") else { return nil }
        var (rest, digits) = (text.dropFirst(19), Substring())
        if rest.first == "." {
            digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(1 + digits.count)
        }
        let nanoseconds = UInt64("\(digits)000000000".prefix(9)) ?? 0
        if rest == "Z" { return (seconds, nanoseconds) }
        guard let offset = self.seconds("1970-01-01T\(rest.dropFirst()):00Z") else { return nil }
        switch rest.first {
        case "+": return (seconds - offset, nanoseconds)
        case "-": return (seconds + offset, nanoseconds)
        default: return nil
        }
    }

    /// Reads only the form that ``format(_:)`` writes. Foundation also reads days and times that do not exist.
    private static func seconds(_ text: String) -> Int? {
        guard let date = try? utc.parse(text), date.formatted(utc) == text else { return nil }
        return Int(exactly: date.timeIntervalSince1970)
    }

    /// Returns the time in RFC 3339, in UTC and milliseconds.
    package static func milliseconds(_ time: UnixNanoseconds) -> String {
        let fraction = String(time / 1_000_000 % 1000 + 1000).dropFirst()
        return "\(format(time).dropLast()).\(fraction)Z"
    }

    private static let units: [(String, UInt64)] = [
        ("ns", 1), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]

    /// Returns a duration that ``nanoseconds(_:)`` can read, in the largest unit that gives a whole number.
    package static func length(_ nanoseconds: UInt64) -> String {
        let (unit, length) = units.last { nanoseconds % $0.1 == 0 } ?? units[0]
        return "\(nanoseconds / length)\(unit)"
    }

    /// The most decimal places of a duration.
    private static let maxPlaces = 9

    /// Reads a duration: `15625ns`, `500ms`, `1.5s`, `30m`, `1h`, `7d`. Returns `nil` if the text is not a duration, or not a
    /// whole number of nanoseconds.
    package static func nanoseconds(_ text: String) -> UInt64? {
        guard let (unit, length) = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
        let parts = text.dropLast(unit.count).split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ UInt64($0) }) else { return nil }
        let (product, isTooLong) = whole.multipliedReportingOverflow(by: length)
        guard !isTooLong, parts.count > 1 else { return isTooLong ? nil : product }
        guard let fraction = nanoseconds(places: parts[1], of: length) else { return nil }
        let (sum, overflow) = product.addingReportingOverflow(fraction)
        return overflow ? nil : sum
    }

    /// Returns the nanoseconds of the digits after a decimal point.
    ///
    /// - Parameter length: the length of the unit in nanoseconds.
    private static func nanoseconds(places: Substring, of length: UInt64) -> UInt64? {
        guard (1...maxPlaces).contains(places.utf8.count), places.utf8.allSatisfy({ "0123456789".utf8.contains($0) }),
            let numerator = UInt64(places)
        else { return nil }
        let denominator = places.utf8.reduce(1 as UInt64) { product, _ in product * 10 }
        // The numerator is smaller than the denominator, so the quotient is less than the unit.
        let (quotient, remainder) = denominator.dividingFullWidth(numerator.multipliedFullWidth(by: length))
        return remainder == 0 ? quotient : nil
    }
}
