/// The spans of a trace as a tree: each span under the one that called it.
enum TraceTree {
    /// Levels that are shown at most; deeper spans stand at the last.
    private static let maxDepth = 32

    /// Returns each span once, with the number of spans above it. Children follow their parent in the order of their starts. A
    /// span whose parent is missing, or among its own children, stands at the top.
    static func rows(of spans: [TraceSpan]) -> [(span: TraceSpan, depth: Int)] {
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
        var (rows, isShown) = ([(span: TraceSpan, depth: Int)](), Array(repeating: false, count: spans.count))
        // A circle of parents has no root; its first span becomes one.
        for start in roots + spans.indices {
            var open = [(index: start, depth: 0)]
            while let (index, depth) = open.popLast() {
                guard !isShown[index] else { continue }
                isShown[index] = true
                rows.append((spans[index], min(depth, maxDepth)))
                let below = children.removeValue(forKey: spans[index].spanID) ?? []
                open += below.reversed().map { ($0, depth + 1) }
            }
        }
        return rows
    }
}
