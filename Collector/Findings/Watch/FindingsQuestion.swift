import MartletStorage
import MartletTelemetry

/// A question about what happened in a window.
package struct FindingsQuestion: Sendable {
    package var window: TimeWindow
    /// What the findings are about. A finding without a value of a dimension, such as the end of a process, is about all of them.
    package var filter: RequestFilter
    /// The wanted kinds; empty for all.
    package var kinds: Set<FindingKind>

    package init(window: TimeWindow, filter: RequestFilter = RequestFilter(), kinds: Set<FindingKind> = []) {
        (self.window, self.filter, self.kinds) = (window, filter, kinds)
    }
}

/// What happened in a window, the most expensive first.
package struct FindingsAnswer: Sendable {
    /// At most ten.
    package var findings: [Finding]
    /// The number of all.
    package var count: Int
    /// The end of the last finding of the window's requests; `nil` if one goes on, or if none is known.
    package var quietSince: UnixNanoseconds?
    /// Whether the store's last hours have been read since the start. Before, findings may be missing.
    package var isComplete: Bool

    package init(findings: [Finding], count: Int, quietSince: UnixNanoseconds? = nil, isComplete: Bool = true) {
        (self.findings, self.count) = (findings, count)
        (self.quietSince, self.isComplete) = (quietSince, isComplete)
    }
}
