import MartletStorage

/// The sum that a series' requests count to, and their class.
struct SeriesTarget: Equatable {
    /// The index of the group's sum, or of its first slot.
    var group: Int
    var requests: RequestClass
}
