import Foundation

/// A time zone, as the seconds by which its clocks are ahead of UTC at a moment.
package struct UTCOffset: Sendable {
    /// Takes seconds since 1970.
    let seconds: @Sendable (Int) -> Int

    package init(_ seconds: @escaping @Sendable (Int) -> Int) {
        self.seconds = seconds
    }

    package static let utc = UTCOffset { _ in 0 }

    /// Returns the zone that `TZ` of the process's environment names; UTC if it is unset or empty, or names none. It asks the
    /// C library, because Foundation ends the process if `TZ` is odd.
    ///
    /// - Parameter variables: the process's own environment.
    package static func environment(_ variables: [String: String]) -> UTCOffset {
        guard let zone = variables["TZ"], !zone.isEmpty else { return .utc }
        tzset()
        return UTCOffset { seconds in
            var (time, parts) = (time_t(seconds), tm())
            return localtime_r(&time, &parts) == nil ? 0 : parts.tm_gmtoff
        }
    }
}
