import MartletTelemetry

/// The `Retry-After` header (RFC 9110, section 10.2.3): seconds or an HTTP date.
enum RetryAfter {
    /// Returns the delay, never negative and never longer than ``MartletLimits/retryAfter``; `nil` if the text is neither
    /// form.
    static func delay(_ text: String, now: UnixNanoseconds) -> Duration? {
        let seconds = UInt32(text).map(Double.init) ?? HTTPDate.seconds(text).map { Double($0) - Double(now) / 1e9 }
        return seconds.map { min(.seconds(max(0, $0)), MartletLimits.retryAfter) }
    }
}
