/// A query has more groups than the store puts together for one answer.
package struct TooManyGroups: Error, Equatable, CustomStringConvertible {
    /// Groups that there may be.
    package var limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    package var description: String {
        "there are more than \(limit) rows: ask for fewer dimensions, for one service or for a shorter time"
    }
}
