/// A day of the Gregorian calendar. Foundation's styles cost a thousand times as much, and a page has hundreds of times.
///
/// The arithmetic is that of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, so that the day
/// of a leap year is the last one, and 400 of them are an era.
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

    /// The days since 1 January 1970. A day that the calendar does not have is another day.
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
