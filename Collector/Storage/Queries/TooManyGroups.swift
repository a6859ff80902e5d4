/// The error of a query with more groups, or more slots of groups, than the store puts together for one answer.
package struct TooManyGroups: Error, Equatable, CustomStringConvertible {
    /// Groups that an answer may have; each slot of a group counts as one.
    package var limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    package var description: String {
        """
        the report has more than \(limit) rows; ask for fewer dimensions, for one service, for a shorter time or for longer \
        steps
        """
    }
}
