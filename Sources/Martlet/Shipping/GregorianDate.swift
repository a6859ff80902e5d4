/// A day of the Gregorian calendar. It uses arithmetic alone: Foundation's formatters read the locale and the time zone
/// of the process, and end the process if `LANG` or `TZ` is odd.
struct GregorianDate {
    let year: Int
    /// 1...12.
    let month: Int
    /// 1...31.
    let day: Int

    /// `nil` if the calendar does not have the day, or the year is outside 1...9999.
    init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month),
            (1...Self.days(ofMonth: month, year)).contains(day)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    var daysSince1970: Int {
        Self.daysSince1970(ofYear: year) + (1..<month).reduce(0) { $0 + Self.days(ofMonth: $1, year) } + day - 1
    }

    private static func daysSince1970(ofYear year: Int) -> Int {
        (year - 1970) * 365 + leapDays(before: year) - leapDays(before: 1970)
    }

    private static func days(ofMonth month: Int, _ year: Int) -> Int {
        switch month {
        case 2: 28 + leapDays(before: year + 1) - leapDays(before: year)
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the number of leap days from the year 1 up to the given year.
    private static func leapDays(before year: Int) -> Int {
        let last = year - 1
        return last / 4 - last / 100 + last / 400
    }
}
