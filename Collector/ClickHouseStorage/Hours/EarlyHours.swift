import MartletStorage

/// The hours that were made of the points of metrics soon after they ended. A report reads them instead of the points, which are
/// hundreds of times as many. Points that come late count at once, and the hour is made anew.
enum EarlyHours {
    /// Returns the hours that hold and lie wholly in a window.
    static func holding(in window: TimeWindow, _ client: ClickHouseClient) async throws -> [UInt32] {
        let length = StoredHour.length
        let first = (max(0, Int64(clamping: window.from) - 1) + length) / length
        let end = Int64(clamping: window.to) / length
        guard first < end else { return [] }
        return try await HourRevisions.read(of: first..<end, .early, client).filter(\.holds).map(\.hour)
    }
}
