/// A test of whether a share has changed from one window to the next: in the whole later window, or at its end.
///
/// A change within the window makes its blocks differ from each other, as if the row varied so much by itself. A test of whole windows
/// therefore finds an outage late. So the last blocks are tested as well, against all blocks before them and with the variation of those.
struct ChangeTest: Sendable {
    /// The test of the whole windows, whose shares a verdict names.
    let whole: ShareTest
    /// The tests of the last blocks; none if the windows do not follow each other.
    private let recent: [ShareTest]

    /// The numbers of last blocks: 12 and 24 minutes of an hour. A change that is older is found in the whole window.
    private static let recentBlocks = [2, 4]
    /// The part of the false findings that the last blocks may make. What they are for is large, so they need little of it.
    private static let recentPart = 0.05

    /// - Parameter isLater: whether the one window follows the other.
    init(before: BlockMean, after: BlockMean, isLater: Bool) {
        whole = ShareTest(before: before, after: after)
        recent = (isLater ? Self.recentBlocks : []).map { count in
            let (earlier, last) = after.split(last: count)
            return ShareTest(of: last, asBlocksOf: before.followed(by: earlier))
        }
    }

    /// The probability of a difference at least this large if nothing has changed. `nil` if all requests have the property, or
    /// none has.
    var pValue: Double? {
        whole.pValue.map { whole in
            let results = recentPValues.map { $0 * Double(recent.count) / Self.recentPart }
            return min((results + [whole / wholePart]).min() ?? 1, 1)
        }
    }

    /// Returns the level at which a result of ``whole`` counts by itself.
    func levelOfWhole(_ level: Double) -> Double { level * wholePart }

    private var wholePart: Double { recent.isEmpty ? 1 : 1 - Self.recentPart }

    /// The last blocks may have changed in the other direction than the window, whose shares would not tell it.
    private var recentPValues: [Double] {
        recent.filter { $0.isMoreAfter == whole.isMoreAfter }.compactMap(\.pValue)
    }
}

extension ShareTest {
    var isMoreAfter: Bool { after.mean > before.mean }
}
