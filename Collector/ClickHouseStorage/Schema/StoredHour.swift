/// The number of the hour that a time ends in.
enum StoredHour {
    static let length: Int64 = 3_600_000_000_000

    static func of(_ end: Int64) -> UInt32 { UInt32(clamping: max(0, end - 1) / length) }
}
