import MartletTelemetry

/// The spans of a trace as a tree on one time axis, placed by their senders' clocks. All times are milliseconds.
package struct TraceWaterfall: Sendable, Equatable {
    package struct Row: Sendable, Equatable {
        /// The span; its bar begins at ``TraceSpan/offset`` and is as long as ``TraceSpan/duration``.
        package var span: TraceSpan
        /// The number of spans above it.
        package var depth: Int
        /// The index of the row of the span above it; `nil` at the top.
        package var parent: Int?
        /// Whether this span is where the failure of the trace began.
        package var failedFirst = false
    }

    /// Two clocks that disagree: a span begins before the one that caused it.
    package struct Skew: Sendable, Equatable {
        /// The sender whose clock is behind: its service, and its instance if it has one.
        package var sender: String
        /// The least time by which its clock is behind its caller's.
        package var behind: Double
        /// The sender of the calling span.
        package var caller: String
    }

    /// Each span once, a child after its parent, children in the order of their starts.
    package let rows: [Row]
    /// The services in the order of their first span.
    package let services: [String]
    /// The largest difference for each sender whose clock is behind.
    package let skews: [Skew]
    /// The end of the last span.
    package let scale: Double

    /// Whether all failed spans are included. The store returns failed spans before the others.
    package var hasAllFailed: Bool { rows.contains { !$0.span.failed } }

    /// The smallest clock difference that is reported.
    private static let smallestSkew = 1.0

    package init(_ spans: [TraceSpan]) {
        var tree = TraceTree.rows(of: spans)
        if let first = Self.firstToFail(tree) { tree[first].failedFirst = true }
        rows = tree
        services = tree.reduce(into: []) { if !$0.contains($1.span.service) { $0.append($1.span.service) } }
        skews = Self.skews(among: spans)
        scale = spans.map { $0.offset + $0.duration }.max() ?? 0
    }

    /// Returns the index of the failed span that ended first, among those without a failed span below them.
    private static func firstToFail(_ rows: [Row]) -> Int? {
        let causes = rows.indices.filter { rows[$0].span.failed && !hasFailure(below: $0, in: rows) }
        return causes.min { rows[$0].span.end < rows[$1].span.end }
    }

    private static func hasFailure(below row: Int, in rows: [Row]) -> Bool {
        rows[(row + 1)...].prefix { $0.depth > rows[row].depth }.contains { $0.span.failed }
    }

    private static func skews(among spans: [TraceSpan]) -> [Skew] {
        let callers = Dictionary(spans.map { ($0.spanID, $0) }) { first, _ in first }
        var skews: [Skew] = []
        for span in spans {
            guard let caller = span.parentSpanID.flatMap({ callers[$0] }), caller.sender != span.sender else {
                continue
            }
            let behind = caller.offset - span.offset
            guard behind > smallestSkew else { continue }
            let skew = Skew(sender: span.sender, behind: behind, caller: caller.sender)
            if let known = skews.firstIndex(where: { $0.sender == skew.sender }) {
                if skews[known].behind < behind { skews[known] = skew }
            } else {
                skews.append(skew)
            }
        }
        return skews
    }
}

extension TraceSpan {
    /// The service that reported the span, with its instance if it has one.
    fileprivate var sender: String { instance.isEmpty ? service : "\(service) (\(instance))" }

    /// When the span ended, in milliseconds after the first span's start.
    package var end: Double { offset + duration }

    /// Whether the span failed. A request that its caller cancelled did not.
    package var failed: Bool { (isError || error != nil) && error != RequestOutcome.cancelledError }

    /// A verb for what the span did: it served a request, called another service, or worked internally.
    package var verb: String {
        switch kind {
        case "server", "consumer": "serves"
        case "client", "producer": "calls"
        default: "does"
        }
    }
}

/// The spans of a trace as a tree: each span under the one that called it.
enum TraceTree {
    /// The most levels that are shown; deeper spans appear on the last level.
    private static let maxDepth = 32

    /// Returns each span once, with the number of spans above it. Children follow their parent in the order of their starts. A
    /// span is at the top if its parent is missing or is one of its descendants.
    static func rows(of spans: [TraceSpan]) -> [TraceWaterfall.Row] {
        let known = Set(spans.map(\.spanID))
        var children: [String: [Int]] = [:]
        var roots: [Int] = []
        for (index, span) in spans.enumerated() {
            if let parent = span.parentSpanID, known.contains(parent), parent != span.spanID {
                children[parent, default: []].append(index)
            } else {
                roots.append(index)
            }
        }
        var (rows, isShown) = ([TraceWaterfall.Row](), Array(repeating: false, count: spans.count))
        // A circle of parents has no root, so its first span becomes one.
        for start in roots + spans.indices {
            var open: [(index: Int, depth: Int, parent: Int?)] = [(start, 0, nil)]
            while let (index, depth, parent) = open.popLast() {
                guard !isShown[index] else { continue }
                isShown[index] = true
                let row = rows.count
                rows.append(TraceWaterfall.Row(span: spans[index], depth: min(depth, maxDepth), parent: parent))
                let below = children.removeValue(forKey: spans[index].spanID) ?? []
                open += below.reversed().map { ($0, depth + 1, row) }
            }
        }
        return rows
    }
}
