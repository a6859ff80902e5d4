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
                "--retention: a finer resolution is not kept longer than a coarser one (10s=6h,1m=7d,1h=400d by default)"
            )
        }
        return retention
    }

    private static let problem = ValidationError(
        "--retention is how long points are kept by their resolution, such as 10s=6h,1m=7d,1h=400d")
}
