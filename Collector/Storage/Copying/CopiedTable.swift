/// The parts that a copy of a store goes through, in this order. The numbers of batches come first: once they are copied,
/// nothing that is sent again counts twice.
package enum CopiedTable: String, Sendable, CaseIterable {
    case batches
    case senders
    case points
    case details
}

/// Some rows of a table, in the order of their numbers.
package struct CopiedPart: Sendable {
    package enum Rows: Sendable {
        case batches([CopiedBatches])
        case senders([CopiedSender])
        case points([CopiedPoints])
        case details([CopiedDetail])
    }

    package let rows: Rows
    /// The number of the last row: the next part begins after it.
    package let last: Int64

    package init(_ rows: Rows, last: Int64) {
        (self.rows, self.last) = (rows, last)
    }
}
