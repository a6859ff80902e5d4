import Foundation

/// The `Retry-After` header (RFC 9110, section 10.2.3): seconds or an HTTP date.
enum RetryAfter {
    /// `nil` for what is neither; never negative and never longer than ``MartletLimits/retryAfter``.
    static func delay(_ text: String, now: Date) -> Duration? {
        let seconds = Double(UInt32(text).map(Double.init) ?? date(text)?.timeIntervalSince(now) ?? .nan)
        guard !seconds.isNaN else { return nil }
        return min(.seconds(max(0, seconds)), MartletLimits.retryAfter)
    }

    /// IMF-fixdate, the one form that senders may use (RFC 9110, section 5.6.7).
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}
