/// The parts that a copy of a store goes through, in this order. Numbers of batches and the state of streams come first: once
/// they are copied, senders may go on with the store that takes the copy.
package enum CopiedTable: String, Sendable, CaseIterable {
    case batches
    case senders
    case points
    case details
    case calls
}

/// Some rows of a table, in the order of their numbers.
package struct CopiedPart: Sendable {
    package enum Rows: Sendable {
        case batches([CopiedBatches])
        case senders([CopiedSender])
        case points([CopiedPoints])
        case details([CopiedDetail])
        case calls([RememberedCall])
    }

    package let rows: Rows
    /// The number of the last row: the next part begins after it.
    package let last: Int64
    /// Points and spans up to that row that could not be read.
    package let damaged: Int

    package init(_ rows: Rows, last: Int64, damaged: Int = 0) {
        (self.rows, self.last, self.damaged) = (rows, last, damaged)
    }
}
