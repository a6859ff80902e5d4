/// The latest day on which a point of a series ended, in days since 1970. A series is therefore written once a day instead of
/// with each point.
enum SeriesDay {
    static let length: Int64 = 24 * 3_600_000_000_000

    static func of(_ time: Int64) -> Int64 { time / length }
}
