import MartletStorage

/// A question for who calls whom.
package struct MapQuery: Sendable, Equatable {
    package var window: TimeWindow
    /// The services of which one at least is an end of each edge, and the environments of both ends.
    package var filter: RequestFilter
    /// Edges of the answer at most; `nil` for all.
    package var limit: Int?

    package init(window: TimeWindow, filter: RequestFilter, limit: Int?) {
        (self.window, self.filter, self.limit) = (window, filter, limit)
    }
}
