import MartletStorage

/// The group that a series' requests count to, and their class.
struct SeriesTarget: Equatable {
    /// The index of the group.
    var group: Int
    var requests: RequestClass
}
