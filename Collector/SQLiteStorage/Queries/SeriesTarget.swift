import MartletStorage

/// The sum that a series' requests count to, and their class.
struct SeriesTarget: Equatable {
    /// The index of the group's sum, or of its first slot. Before ``GroupSums/counted(_:)`` that of the group, if groups are selected.
    var group: Int
    var requests: RequestClass
}
