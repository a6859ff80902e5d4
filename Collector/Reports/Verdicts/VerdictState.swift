/// Whether a row is worse now, so that a page that is reloaded each minute says the same.
///
/// A row becomes worse when its result reaches the level, and stays worse until three moments in a row say nothing. The state is
/// computed from the windows that ended in the last minutes. It is kept nowhere, so every collector, command and page that asks at the
/// same moment gets the same answer, also after a restart.
package enum VerdictState {
    /// Returns whether the row is worse now.
    ///
    /// - Parameters:
    ///   - moments: how many moments to look back at most: the length of the window, in slots. A change that is not in the window
    ///     does not make it worse.
    ///   - pValue: returns the result of "worse" of the window that ended a number of moments ago; 1 if there is too little data.
    ///     It is asked for as few moments as needed: one for a row that is worse now, three for most others.
    package static func isWorse(moments: Int, pValue: (Int) -> Double) -> Bool {
        var results: [Double] = []
        func result(_ ago: Int) -> Double {
            while results.count <= ago { results.append(pValue(results.count)) }
            return results[ago]
        }
        for ago in 0..<max(moments, 1) {
            if result(ago) <= VerdictConstants.rowLevel { return true }
            guard (ago..<ago + VerdictConstants.looks).contains(where: { result($0) <= VerdictConstants.stay }) else {
                return false
            }
        }
        return false
    }
}

extension ComparedWindows {
    /// Returns the windows that ended some slots ago. Their quantiles are those of now, because a verdict that stays names these.
    func ended(slotsAgo: Int) -> ComparedWindows {
        var windows = self
        windows.end -= slotsAgo
        return windows
    }

    /// Whether the row is worse now (``VerdictState``).
    ///
    /// - Parameter verdict: the verdict on these windows.
    package func isWorse(_ verdict: RowVerdict) -> Bool {
        VerdictState.isWorse(moments: length) { ago in
            let verdict = ago == 0 ? verdict : RowVerdict(ended(slotsAgo: ago))
            if case .tooLittleData = verdict.answer { return 1 }
            return verdict.pValue(.worse)
        }
    }
}
