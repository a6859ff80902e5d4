/// A time of RFC 3339 (section 5.6): `2026-11-21T09:00:00Z`, `2026-11-21T10:00:00.25+01:00`.
///
/// The leap second `:60` is refused, because Unix time has none; `24:00` is no time of RFC 3339.
struct TimestampReader {
    private var text: Substring.UTF8View

    /// Returns seconds since 1970, and nanoseconds beside them; finer digits are cut off. Returns `nil` if the text is no
    /// such time.
    static func parse(_ text: String) -> (seconds: Int, nanoseconds: Int)? {
        var reader = TimestampReader(text: text[...].utf8)
        guard let day = reader.day(), reader.takes("T") || reader.takes("t"), let time = reader.timeOfDay(),
            let nanoseconds = reader.fraction(), let offset = reader.offset(), reader.text.isEmpty
        else { return nil }
        return (day * 86_400 + time - offset, nanoseconds)
    }

    /// Reads a day, as days since 1970.
    private mutating func day() -> Int? {
        guard let year = number(digits: 4), takes("-"), let month = number(digits: 2), takes("-"),
            let day = number(digits: 2)
        else { return nil }
        let date = CivilDay(year: year, month: month, day: day)
        return date.exists ? date.daysSince1970 : nil
    }

    /// Reads hours, minutes and seconds, as seconds.
    private mutating func timeOfDay() -> Int? {
        guard let minutes = hoursAndMinutes(), takes(":"), let seconds = number(digits: 2), seconds < 60 else {
            return nil
        }
        return minutes * 60 + seconds
    }

    /// Reads hours and minutes, as minutes.
    private mutating func hoursAndMinutes() -> Int? {
        guard let hours = number(digits: 2), hours < 24, takes(":"), let minutes = number(digits: 2), minutes < 60
        else {
            return nil
        }
        return hours * 60 + minutes
    }

    /// Reads the digits after a point, as nanoseconds; 0 if there is no point.
    private mutating func fraction() -> Int? {
        guard takes(".") else { return 0 }
        var (nanoseconds, unit, digits) = (0, 100_000_000, 0)
        while let digit = digit() {
            nanoseconds += digit * unit
            unit /= 10
            digits += 1
        }
        return digits > 0 ? nanoseconds : nil
    }

    /// Reads the difference to UTC, as seconds.
    private mutating func offset() -> Int? {
        if takes("Z") || takes("z") { return 0 }
        let isBefore = takes("-")
        guard isBefore || takes("+"), let minutes = hoursAndMinutes() else { return nil }
        return minutes * (isBefore ? -60 : 60)
    }

    private mutating func number(digits: Int) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    private mutating func digit() -> Int? {
        guard let byte = text.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        text.removeFirst()
        return Int(byte - UInt8(ascii: "0"))
    }

    private mutating func takes(_ character: Unicode.Scalar) -> Bool {
        guard let byte = text.first, byte == UInt8(ascii: character) else { return false }
        text.removeFirst()
        return true
    }
}
