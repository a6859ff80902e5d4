import MartletTelemetry

/// A time as people write it: RFC 3339, or a duration before now.
package enum TimeText {
    /// Returns `nil` if the text is neither, or if the time is before 1970 or after 2255.
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

    /// Returns the part of a unit that the digits after the decimal point mean.
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

/// A time of RFC 3339 (section 5.6): `2026-11-21T09:00:00Z`, `2026-11-21T10:00:00.25+01:00`.
///
/// The leap second `:60` is refused, because Unix time has none. `24:00` is not a time of RFC 3339.
struct TimestampReader {
    private var text: Substring.UTF8View

    /// Returns seconds since 1970, and the nanoseconds of the second; finer digits are cut off. Returns `nil` if the text is not
    /// such a time.
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

    /// Reads the difference from UTC, as seconds.
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

/// A day of the Gregorian calendar. Foundation's format styles take a thousand times as long, and a page has hundreds of times.
///
/// The arithmetic is that of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms". Years begin in March, so that the leap
/// day is the last one, and 400 years make an era.
struct CivilDay: Equatable {
    var year: Int
    var month: Int
    var day: Int

    private static let daysOfEra = 146_097
    /// The days from 1 March 0000 to 1 January 1970.
    private static let daysBefore1970 = 719_468

    init(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// - Parameter days: the days since 1 January 1970.
    init(daysSince1970 days: Int) {
        let shifted = days + Self.daysBefore1970
        let era = (shifted >= 0 ? shifted : shifted - Self.daysOfEra + 1) / Self.daysOfEra
        let dayOfEra = shifted - era * Self.daysOfEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The days since 1 January 1970. A day that does not exist in the calendar gives another day.
    var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * Self.daysOfEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - Self.daysBefore1970
    }

    /// Whether the calendar has the day.
    var exists: Bool {
        (1...12).contains(month) && (1...31).contains(day) && CivilDay(daysSince1970: daysSince1970) == self
    }
}
