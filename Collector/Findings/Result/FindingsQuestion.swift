import MartletStorage
import MartletTelemetry

/// A question about what happened in a window.
package struct FindingsQuestion: Sendable {
    package var window: TimeWindow
    /// The subject of the wanted findings. A finding without a value of a dimension, such as the end of a process, matches any.
    package var filter: RequestFilter
    /// The wanted kinds; empty for all.
    package var kinds: Set<FindingKind>

    package init(window: TimeWindow, filter: RequestFilter = RequestFilter(), kinds: Set<FindingKind> = []) {
        (self.window, self.filter, self.kinds) = (window, filter, kinds)
    }
}

extension FindingsQuestion {
    /// - Parameter environment: its name; empty for senders without one.
    func selects(environment: String) -> Bool {
        filter.wanted[.environment].map { $0.contains(environment) } ?? true
    }

    func selects(_ finding: Finding) -> Bool {
        (kinds.isEmpty || kinds.contains(finding.kind)) && finding.isSelected(by: filter)
    }
}

extension Finding {
    func isSelected(by filter: RequestFilter) -> Bool {
        filter.wanted.allSatisfy { dimension, wanted in
            let values = values(of: dimension)
            return values.isEmpty
                || values.contains { value in
                    dimension == .host ? filter.matches(host: value) : wanted.contains(value)
                }
        }
    }

    /// The values that it names of a dimension; none if it is about all of them.
    private func values(of dimension: Dimension) -> [String] {
        switch dimension {
        case .service: [subject.service]
        case .kind: [subject.kind?.rawValue].compactMap { $0 }
        case .method: [subject.method].compactMap { $0 }
        case .host: [subject.host].compactMap { $0 }
        case .endpoint: [subject.endpoint].compactMap { $0 }
        // Only HTTP is watched, which has no system.
        case .system: [""]
        case .version: who.filter { $0.dimension == .version }.map(\.value)
        case .instance: who.filter { $0.dimension == .instance }.map(\.value)
        case .environment, .status, .error, .rule: []
        }
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
    /// Whether everything was read that the window's findings come from. It was not while a collector starts, for a window that
    /// begins before the time for which findings are kept, and if there are too many or the store could not be read.
    package var isComplete: Bool

    package init(findings: [Finding], count: Int, quietSince: UnixNanoseconds? = nil, isComplete: Bool = true) {
        (self.findings, self.count) = (findings, count)
        (self.quietSince, self.isComplete) = (quietSince, isComplete)
    }
}
