import MartletStorage

/// The requests of one row of a report in two windows, a group for each block of ``ComparisonBlocks``. The windows may
/// differ in length and in the number of their blocks.
package struct ComparedRow: Sendable {
    package var before: [RequestGroup]
    package var after: [RequestGroup]
    /// Whether the later window follows the earlier one. Two versions have the same window.
    package var isLater: Bool

    /// - Parameters:
    ///   - before: the blocks of the earlier window; a block without requests is empty or left out.
    ///   - after: the blocks of the later window, likewise.
    package init(before: [RequestGroup], after: [RequestGroup], isLater: Bool = true) {
        self.before = before
        self.after = after
        self.isLater = isLater
    }
}
