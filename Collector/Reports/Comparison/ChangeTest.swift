/// A test of whether a share has changed from one window to the next: in the whole later window, or in a part of it.
///
/// A change within the window makes its blocks differ from each other, as if the row varied so much by itself. A test of whole windows
/// therefore finds no outage of a few minutes. So the blocks that differ most are tested as well, against all others and with the
/// variation of those.
struct ChangeTest: Sendable {
    /// The test of the whole windows, whose shares a verdict names.
    let whole: ShareTest
    /// The test of a part, and the number of parts among which it was chosen; `nil` if the windows do not follow each other.
    private let part: (test: ShareTest, choices: Int)?

    /// The blocks of a part: 12 to 24 minutes of an hour. A change that lasts longer is found in the whole window.
    private static let partBlocks = [2, 3, 4]
    /// The share of the false findings that parts may make. The changes that they are for are large, so they need little of it.
    private static let shareOfParts = 0.02

    /// - Parameter isLater: whether the one window follows the other.
    init(before: BlockMean, after: BlockMean, isLater: Bool) {
        whole = ShareTest(before: before, after: after)
        part = isLater ? Self.part(of: after, followingOn: before, isMore: whole.isMoreAfter) : nil
    }

    /// The probability of a difference at least this large if nothing has changed. `nil` if all requests have the property, or
    /// none has.
    var pValue: Double? {
        guard let result = whole.pValue else { return nil }
        guard let part, let ofPart = part.test.pValue, part.test.isMoreAfter == whole.isMoreAfter else {
            return min(result / shareOfWhole, 1)
        }
        return min(result / shareOfWhole, ofPart * Double(part.choices) / Self.shareOfParts, 1)
    }

    /// Returns the level at which a result of ``whole`` counts by itself.
    func levelOfWhole(_ level: Double) -> Double { level * shareOfWhole }

    private var shareOfWhole: Double { part == nil ? 1 : 1 - Self.shareOfParts }

    /// Returns the test of the part whose share differs most from that of all other blocks, in the direction in which the whole
    /// window differs: a verdict names the shares of the whole.
    private static func part(
        of after: BlockMean, followingOn before: BlockMean, isMore: Bool
    ) -> (test: ShareTest, choices: Int)? {
        let all = before.followed(by: after)
        let first = before.sizes.count
        let parts = partBlocks.flatMap { length in
            (first..<max(first, all.sizes.count - length + 1)).map { $0..<$0 + length }
        }
        let distances = parts.map { isMore ? all.distance(of: $0) : -all.distance(of: $0) }
        guard let best = distances.indices.max(by: { distances[$0] < distances[$1] }) else { return nil }
        let (others, blocks) = all.divided(at: parts[best])
        return (ShareTest(of: blocks, asBlocksOf: others), parts.count)
    }
}

extension BlockMean {
    /// Returns the difference between the share of some blocks and that of all others, divided by the standard error that it would have if
    /// requests did not depend on each other; times a factor that is the same for all parts.
    fileprivate func distance(of range: Range<Int>) -> Double {
        let (inside, size) = (sums[range].reduce(0, +), sizes[range].reduce(0, +))
        let rest = self.size - size
        return (inside / size - (sum - inside) / rest) * (size * rest).squareRoot()
    }
}

extension ShareTest {
    var isMoreAfter: Bool { after.mean > before.mean }
}
