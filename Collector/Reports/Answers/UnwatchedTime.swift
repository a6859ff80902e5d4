import MartletStorage

/// The time for which agents did not look for requests, because capture was off.
package struct UnwatchedTime: Sendable, Equatable, Codable {
    /// The longest time that one instance was off, in seconds.
    package var seconds: Double
    /// The length of the report's window, in seconds.
    package var ofSeconds: Double
    package var instances: Int
    package var ofInstances: Int

    private enum CodingKeys: String, CodingKey {
        case seconds, instances
        case ofSeconds = "of_seconds"
        case ofInstances = "of_instances"
    }

    /// Returns `nil` if no instance was off.
    init?(_ account: WindowAccount) {
        guard account.unwatchedInstances > 0 else { return nil }
        seconds = account.longestUnwatched / 1e9
        ofSeconds = account.window.seconds
        instances = account.unwatchedInstances
        ofInstances = account.instances
    }

    var sentence: String {
        let (unit, name) = Self.unit(ofSeconds)
        let upTo = instances > 1 ? "up to " : ""
        return "capture was off for \(upTo)\(Self.figure(seconds / unit)) of \(Self.figure(ofSeconds / unit)) \(name)"
            + " on \(instances) of \(ofInstances) \(ofInstances == 1 ? "instance" : "instances")"
    }

    private static func unit(_ seconds: Double) -> (Double, String) {
        switch seconds {
        case ..<120: (1, "seconds")
        case ..<172_800: (60, "minutes")
        default: (3600, "hours")
        }
    }

    private static func figure(_ value: Double) -> String {
        if value > 0, value < 0.1 { return "less than 0.1" }
        let text = FigureText.fixed(value, value < 10 ? 1 : 0)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
