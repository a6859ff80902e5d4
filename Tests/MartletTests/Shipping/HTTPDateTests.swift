import Foundation
import Testing

@testable import Martlet

@Suite struct HTTPDateTests {
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
    ])
    func validDateIsRead(text: String, seconds: Int) { #expect(HTTPDate.seconds(text) == seconds) }

    /// Compares with Foundation's dates, in a test process with a sound locale.
    @Test func eachDayOfFourCenturiesMatchesFoundation() throws {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        // The step is a prime number of seconds, so that all months, days, hours and minutes occur.
        for seconds in stride(from: 0, to: 400 * 366 * 86_400, by: 2_750_159) {
            let text = format.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(HTTPDate.seconds(text) == seconds, "\(text)")
        }
    }

    @Test(arguments: [
        "", "now", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 +8:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Mon, 29 Feb 2100 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func anyOtherFormIsRefused(text: String) { #expect(HTTPDate.seconds(text) == nil) }
}
