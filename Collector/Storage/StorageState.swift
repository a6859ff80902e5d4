/// The facts about a store that its operator watches. A plain value.
package struct StorageState: Sendable, Equatable {
    /// Bytes of the pages in use, which the store's limit is about.
    package var bytesInUse: UInt64 = 0
    /// The limit of these bytes.
    package var maxBytes: UInt64 = .max
    /// Whether all that may still be deleted before its age, some of it once it is rolled up, makes up the bytes past the limit.
    package var mayShrink = true
    /// Bytes of the log.
    package var logBytes: UInt64 = 0
    /// The seconds by which the collector's clock jumped and is not believed yet, so that nothing expires; negative if it
    /// jumped back, and 0 if it is believed.
    package var clockJump: Double = 0
    /// Details that made room for others since the start, because of their number or bytes.
    package var crowdedDetails: UInt64 = 0
    /// Details that were deleted since the start because the store was full.
    package var shedDetails: UInt64 = 0
    /// Rows of finer points that were deleted since the start because the store was full.
    package var shedChunks: UInt64 = 0
    /// Points of cumulative streams that were not counted since the start, because there was no room to remember their streams.
    package var uncountedPoints: UInt64 = 0

    package init() {}
}
