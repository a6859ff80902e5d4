import MartletTelemetry

/// A question for the values of a dimension, for choices and for the name that a person meant.
package struct ValuesQuery: Sendable, Equatable {
    package var dimension: Dimension
    /// The time in which the values occurred. A store may answer for whole days.
    package var window: TimeWindow
    package var filter: RequestFilter
    /// Values at most.
    package var limit: Int

    package init(_ dimension: Dimension, window: TimeWindow, filter: RequestFilter = RequestFilter(), limit: Int) {
        self.dimension = dimension
        self.window = window
        self.filter = filter
        self.limit = limit
    }
}

/// The values of a dimension, in the order of their bytes.
package struct ValuesAnswer: Sendable, Equatable {
    package var values: [String]
    /// Whether values were left out.
    package var isThereMore: Bool

    package init(values: [String], isThereMore: Bool) {
        self.values = values
        self.isThereMore = isThereMore
    }
}
