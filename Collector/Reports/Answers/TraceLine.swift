/// A line of a trace: a span, or equal siblings, such as 40 calls of the same endpoint. Pure. All times are milliseconds.
package struct TraceLine: Sendable {
    /// The indexes of its spans in ``TraceWaterfall/rows``, in the order of these rows.
    package let rows: [Int]
    /// The spans of these rows.
    package let spans: [TraceSpan]
    /// The number of lines above it, as in ``TraceWaterfall/Row/depth``.
    package let depth: Int
    /// Whether the failure of the trace began in one of its spans.
    package let failedFirst: Bool
    /// The time that the spans above it took; `nil` at the top.
    package let timeAbove: Double?
    /// The times in which at least one of its spans ran, in their order.
    package let times: [(from: Double, to: Double)]
    /// Whether at least two of its spans ran in most of these times.
    package let isConcurrent: Bool

    /// The first of its spans.
    package var span: TraceSpan { spans[0] }
    package var isFolded: Bool { spans.count > 1 }
    /// The time in which at least one of its spans ran.
    package var duration: Double { isFolded ? times.reduce(0) { $0 + $1.to - $1.from } : span.duration }
    /// The indexes of its failed spans in ``TraceWaterfall/rows``.
    package var failed: [Int] { zip(rows, spans).filter { $1.failed }.map(\.0) }
    /// The index of its slowest span in ``TraceWaterfall/rows``.
    package var slowest: Int { zip(rows, spans).max { $0.1.duration < $1.1.duration }?.0 ?? rows[0] }

    /// What the spans are: a name, or their number and their name.
    package var name: String {
        isFolded ? "\(FigureText.grouped(UInt64(spans.count))) × \(span.name)" : span.name
    }

    /// How the folded spans follow each other, in words.
    package var order: String { isConcurrent ? "at the same time" : "one after the other" }

    /// - Parameters:
    ///   - rows: the rows that the line shows; at least one.
    ///   - above: the line above it.
    fileprivate init(_ rows: [Int], of trace: TraceWaterfall, under above: TraceLine?) {
        let shown = rows.map { trace.rows[$0] }
        self.rows = rows
        spans = shown.map(\.span)
        depth = shown[0].depth
        failedFirst = shown.contains(where: \.failedFirst)
        timeAbove = above?.duration
        let run = RunningTimes(of: spans)
        (times, isConcurrent) = (run.times, run.isConcurrent)
    }
}

/// When spans ran.
private struct RunningTimes {
    /// The times in which at least one span ran.
    private(set) var times: [(from: Double, to: Double)] = []
    /// Whether at least two spans ran in more than half of ``times``.
    let isConcurrent: Bool

    init(of spans: [TraceSpan]) {
        // The two latest ends so far bound the times in which one and two spans run.
        var (all, shared, latest, second) = (0.0, 0.0, -Double.infinity, -Double.infinity)
        for span in spans.sorted(by: { $0.offset < $1.offset }) {
            let (from, to) = (span.offset, span.end)
            all += max(0, to - max(from, latest))
            shared += max(0, min(to, latest) - max(from, second))
            if from <= latest, let last = times.indices.last {
                times[last].to = max(times[last].to, to)
            } else {
                times.append((from, to))
            }
            second = max(second, min(to, latest))
            latest = max(latest, to)
        }
        isConcurrent = shared > all / 2
    }
}

extension TraceWaterfall {
    /// The smallest number of equal siblings that share a line.
    private static let fewestFolded = 3

    /// One line for each span, in the order of ``rows``.
    package var unfolded: [TraceLine] { lines { _ in false } }

    /// Returns the lines in which equal siblings are folded. Siblings have the same span above them, or a span that is not kept.
    /// Equal ones have the same service, kind, name and system, and as requests the same method, host and endpoint. The spans below
    /// folded ones are folded together.
    ///
    /// - Parameter id: the id of a span that has a separate line.
    package func folded(except id: String? = nil) -> [TraceLine] { lines { $0.id != id } }

    private func lines(_ mayFold: (TraceSpan) -> Bool) -> [TraceLine] {
        var below: [Int: [Int]] = [:]
        for (index, row) in rows.enumerated() {
            if let parent = row.parent { below[parent, default: []].append(index) }
        }
        func groups(_ rows: [Int]) -> [[Int]] { siblings(rows, mayFold).reversed() }

        var (lines, open) = ([TraceLine](), [(rows: [Int], above: TraceLine?)]())
        open = groups(rows.indices.filter { rows[$0].parent == nil }).map { ($0, nil) }
        while let (rows, above) = open.popLast() {
            let line = TraceLine(rows, of: self, under: above)
            lines.append(line)
            open += groups(rows.flatMap { below[$0] ?? [] }).map { ($0, line) }
        }
        return lines
    }

    /// Returns siblings in groups of equal ones, each at the place of its first span.
    private func siblings(_ siblings: [Int], _ mayFold: (TraceSpan) -> Bool) -> [[Int]] {
        let groups = Dictionary(grouping: siblings.filter { mayFold(rows[$0].span) }) { SiblingKey(rows[$0]) }
        let folded = groups.values.filter { $0.count >= Self.fewestFolded }
        let firsts = Dictionary(folded.map { ($0[0], $0) }) { first, _ in first }
        let others = Set(folded.flatMap { $0.dropFirst() })
        return siblings.filter { !others.contains($0) }.map { firsts[$0] ?? [$0] }
    }
}

/// What equal siblings have in common.
private struct SiblingKey: Hashable {
    private let texts: [String?]

    init(_ row: TraceWaterfall.Row) {
        let span = row.span
        // Spans at the top are siblings only if they name the same caller.
        let caller = row.parent == nil ? span.parentSpanID ?? span.spanID : nil
        texts = [caller, span.service, span.kind, span.name, span.system] + span.target
    }
}
