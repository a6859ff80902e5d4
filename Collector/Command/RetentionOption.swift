import ArgumentParser
import MartletReports
import MartletStorage
import MartletTelemetry

/// The flag `--retention 10s=6h,1m=7d,1h=400d`.
enum RetentionOption {
    /// Returns the retention; a resolution that is not named keeps its default.
    static func parse(_ text: String) throws -> Retention {
        var retention = Retention()
        var named: Set<Substring> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2, let age = TimeText.nanoseconds(String(sides[1])), age <= UInt64(Int64.max),
                named.insert(sides[0]).inserted
            else { throw problem }
            switch sides[0] {
            case "10s": retention.fine = age
            case "1m": retention.minutes = age
            case "1h": retention.hours = age
            default: throw problem
            }
        }
        guard retention.isOrdered else {
            throw ValidationError(
                "--retention must keep a coarser resolution at least as long as a finer one (default: 10s=6h,1m=7d,1h=400d)"
            )
        }
        return retention
    }

    private static let problem = ValidationError(
        "--retention must give the resolutions 10s, 1m or 1h a length of time each, such as 10s=6h,1m=7d,1h=400d")
}
