/// An axis of time, from 0 to the end of its scale, on a number of characters.
struct TimeAxis {
    /// The time at the end, in the unit of all times.
    let scale: Double
    let width: Int

    /// Returns the characters of a part of the time: at least one, and none of the part that follows it.
    func characters(from start: Double, lasting length: Double) -> Range<Int> {
        let first = min(position(start), width - 1)
        return first..<max(first + 1, position(start + length))
    }

    private func position(_ time: Double) -> Int {
        guard scale > 0 else { return 0 }
        return Int((min(max(0, time / scale), 1) * Double(width)).rounded())
    }
}
