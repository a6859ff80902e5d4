import MartletStorage

extension SlotGrid {
    /// Returns the expression of the index of the slot that an interval's end lies in.
    ///
    /// - Parameter end: an expression of a time in the window, of type Int64.
    func slot(of end: String) -> String {
        """
        toUInt64(intDiv(toUInt64(toUInt64(greatest(\(end), toInt64(\(window.from + 1)))) - 1 + toUInt64(\(shift))), \
        toUInt64(\(step))) - toUInt64(\(first)))
        """
    }
}
