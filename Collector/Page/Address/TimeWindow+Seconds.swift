import MartletStorage

extension TimeWindow {
    /// The window as an address has it: from the second that it begins in to the end of the one that it ends in.
    var inWholeSeconds: TimeWindow {
        let second: UInt64 = 1_000_000_000
        return TimeWindow(from: from / second * second, to: (to + second - 1) / second * second)
    }
}
