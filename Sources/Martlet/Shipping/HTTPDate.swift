/// IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`: the one form of an HTTP date that senders may use (RFC 9110, section 5.6.7).
/// The obsolete ones are refused.
enum HTTPDate {
    private static let weekdays = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the seconds since 1970; `nil` if the text is no such date. The day of the week is not checked.
    static func seconds(_ text: String) -> Int? {
        let fields = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 6, weekdays.contains(fields[0]), let day = number(fields[1], digits: 2),
            let month = months.firstIndex(of: fields[2]), let year = number(fields[3], digits: 4),
            let date = GregorianDate(year: year, month: month + 1, day: day), let time = timeOfDay(fields[4]),
            fields[5] == "GMT"
        else { return nil }
        return date.daysSince1970 * 86_400 + time
    }

    /// Returns the seconds of the day. `:60` is a leap second, which Unix time lacks, and counts as the next second.
    private static func timeOfDay(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), digits: 2) }
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2], hour < 24,
            minute < 60, second <= 60
        else { return nil }
        return (hour * 60 + minute) * 60 + second
    }

    private static func number(_ text: String, digits: Int) -> Int? {
        text.utf8.count == digits && text.utf8.allSatisfy(\.isASCIIDigit) ? Int(text) : nil
    }
}
