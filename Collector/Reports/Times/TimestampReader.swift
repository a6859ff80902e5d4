import MartletTelemetry

/// A time of RFC 3339 (section 5.6): `2026-11-21T09:00:00Z`, `2026-11-21T10:00:00.25+01:00`. Every part has its fixed
/// position and range, and nothing follows the zone.
///
/// The leap second `:60` is refused, because Unix time has none; `24:00` is no time of RFC 3339.
struct TimestampReader {
    private var rest: Substring.UTF8View

    /// Returns seconds since 1970, and nanoseconds beside them; finer digits are cut off. Returns `nil` if the text is no
    /// such time.
    static func parse(_ text: String) -> (seconds: Int, nanoseconds: Int)? {
        var reader = Self(rest: text[...].utf8)
        guard let days = reader.days(), reader.take("T"), let time = reader.timeOfDay(),
            let nanoseconds = reader.fraction(), let offset = reader.offset(), reader.rest.isEmpty
        else { return nil }
        return (days * 86_400 + time - offset, nanoseconds)
    }

    /// Reads a date, as days since 1970.
    private mutating func days() -> Int? {
        guard let year = number(digits: 4, in: 0...9999), take("-"), let month = number(digits: 2, in: 1...12),
            take("-"), let day = number(digits: 2, in: 1...31)
        else { return nil }
        return GregorianDate(year: year, month: month, day: day)?.daysSince1970
    }

    /// Reads a time of day, in seconds.
    private mutating func timeOfDay() -> Int? {
        guard let hour = number(digits: 2, in: 0...23), take(":"), let minute = number(digits: 2, in: 0...59),
            take(":"), let second = number(digits: 2, in: 0...59)
        else { return nil }
        return (hour * 60 + minute) * 60 + second
    }

    /// Reads a fraction of a second, in nanoseconds; 0 if the text has none.
    private mutating func fraction() -> Int? {
        guard take(".") else { return 0 }
        let digits = rest.prefix(while: Self.isDigit)
        rest = rest.dropFirst(digits.count)
        let padded = Substring(digits.prefix(9)) + String(repeating: "0", count: max(0, 9 - digits.count))
        return digits.isEmpty ? nil : Int(padded)
    }

    /// Reads an offset, in seconds east of UTC.
    private mutating func offset() -> Int? {
        if take("Z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hours = number(digits: 2, in: 0...23), take(":"),
            let minutes = number(digits: 2, in: 0...59)
        else { return nil }
        return (hours * 60 + minutes) * (isEast ? 60 : -60)
    }

    private mutating func number(digits count: Int, in range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(Self.isDigit), let number = Int(Substring(digits)),
            range.contains(number)
        else { return nil }
        rest = rest.dropFirst(count)
        return number
    }

    /// Takes a letter in either case, as RFC 3339 allows.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        let byte = UInt8(ascii: character)
        guard rest.first == byte || rest.first == byte | 0x20 else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
