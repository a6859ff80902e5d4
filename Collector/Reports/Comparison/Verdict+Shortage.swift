import MartletStorage

extension Verdict.Shortage {
    /// Creates nothing if both windows have enough requests, in enough blocks.
    init?(_ row: ComparedRow) {
        let windows = [(row.before, Verdict.Window.before), (row.after, .after)].map { groups, window in
            (requests: groups.reduce(0) { $0 &+ $1.count }, blocks: groups.count { $0.count > 0 }, window: window)
        }
        if let few = windows.min(by: { $0.requests < $1.requests }), few.requests < Comparison.minRequests {
            self = .requests(few.requests, in: few.window)
        } else if let few = windows.min(by: { $0.blocks < $1.blocks }), few.blocks < Comparison.minBlocks {
            self = .blocks(few.blocks, in: few.window)
        } else {
            return nil
        }
    }
}
