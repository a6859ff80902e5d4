import MartletTelemetry

/// TIME as people write it: RFC 3339, or a length of time ago.
package enum TimeText {
    /// Returns `nil` if the text is neither, or lies before 1970 or past 2255.
    package static func parse(_ text: String, now: UnixNanoseconds) -> UnixNanoseconds? {
        if let length = nanoseconds(text) { return length <= now ? now - length : nil }
        guard let time = TimestampReader.parse(text), (0..<9_000_000_000).contains(time.seconds) else { return nil }
        return UnixNanoseconds(time.seconds) * 1_000_000_000 + UnixNanoseconds(time.nanoseconds)
    }

    /// Returns the time in RFC 3339, in UTC and whole seconds.
    package static func format(_ time: UnixNanoseconds) -> String {
        let seconds = Int(time / 1_000_000_000)
        let (date, second) = (CivilDay(daysSince1970: seconds / 86_400), seconds % 86_400)
        let (hours, minutes) = (second / 3600, second / 60 % 60)
        return "\(digits(date.year, 4))-\(digits(date.month))-\(digits(date.day))T"
            + "\(digits(hours)):\(digits(minutes)):\(digits(second % 60))Z"
    }

    /// Returns the time in RFC 3339, in UTC and milliseconds.
    package static func milliseconds(_ time: UnixNanoseconds) -> String {
        let fraction = String(time / 1_000_000 % 1000 + 1000).dropFirst()
        return "\(format(time).dropLast()).\(fraction)Z"
    }

    private static func digits(_ number: Int, _ count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    private static let units: [(String, UInt64)] = [
        ("ns", 1), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]

    /// Returns a length of time as ``nanoseconds(_:)`` reads it, in the longest unit that it is a whole number of.
    package static func length(_ nanoseconds: UInt64) -> String {
        let (unit, length) = units.last { nanoseconds % $0.1 == 0 } ?? units[0]
        return "\(nanoseconds / length)\(unit)"
    }

    /// Decimal places of a length of time at most.
    private static let maxPlaces = 9

    /// Reads a length of time: `15625ns`, `500ms`, `1.5s`, `30m`, `1h`, `7d`. Returns `nil` if the text is none, or no whole number
    /// of nanoseconds.
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

    /// Returns a part of a unit, of which the digits behind the decimal point are given.
    private static func nanoseconds(places: Substring, of length: UInt64) -> UInt64? {
        guard (1...maxPlaces).contains(places.utf8.count), places.utf8.allSatisfy({ "0123456789".utf8.contains($0) }),
            let numerator = UInt64(places)
        else { return nil }
        let denominator = places.utf8.reduce(1 as UInt64) { product, _ in product * 10 }
        // The numerator is the smaller one, so the quotient is less than the unit.
        let (quotient, remainder) = denominator.dividingFullWidth(numerator.multipliedFullWidth(by: length))
        return remainder == 0 ? quotient : nil
    }
}
