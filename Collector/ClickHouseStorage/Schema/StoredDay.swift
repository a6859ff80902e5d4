/// The number of the day that a time lies in.
enum StoredDay {
    static let length: Int64 = 24 * StoredHour.length

    static func of(_ time: Int64) -> UInt32 { UInt32(clamping: max(0, time) / length) }
}
