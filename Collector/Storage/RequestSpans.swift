import MartletTelemetry

/// The spans of one sender, by the requests that they report. Pure.
///
/// A framework and the HTTP layer below it may both make a span for each request. One is then the parent of the other, or there
/// are only internal spans between them. They are of the same kind and do not differ in method, path or called server. A call
/// of a service to itself usually has a span of the other kind between its two spans.
///
/// A span around calls of the same database or message broker is no further call: it is a mapper's or a transaction's, and
/// the driver's spans within it are the calls. So of these the innermost ones count, as in Martlet's agent.
package struct RequestSpans {
    /// The largest number of stored spans of a trace that are compared with new ones.
    package static let maxStored = 1000
    /// The largest number of stored spans of all traces that are compared with those of a sender in one body.
    package static let maxStoredOfAll = 20_000
    /// The largest number of spans around a span that are looked at.
    private static let maxSteps = 64

    private struct Key: Hashable {
        var trace: TraceID
        var span: SpanID
    }

    private let spans: [SpanRecord]
    /// For each span the next span around it that reports the same request. Each is looked up once, because thousands of spans may
    /// lie within the same ones.
    private let outers: [Int?]

    private init(_ spans: [SpanRecord]) {
        self.spans = spans
        let keys = spans.enumerated().map { (Key(trace: $1.traceID, span: $1.spanID), $0) }
        let indexes = Dictionary(keys) { first, _ in first }
        let parents = spans.indices.map { index -> Int? in
            guard let parent = spans[index].parentSpanID,
                let found = indexes[Key(trace: spans[index].traceID, span: parent)]
            else { return nil }
            return found == index ? nil : found
        }
        outers = spans.indices.map { Self.outer($0, of: spans, parents) }
    }

    /// Returns one span of each new request. Of several spans in `spans`, that is the outermost one with a named endpoint, or the
    /// outermost one if none has a name; for calls of a system, the innermost one.
    ///
    /// - Parameter stored: the sender's spans in the same traces that arrived earlier. Their requests are not new. Only their
    ///   ids, kinds, requests and URLs are used.
    package static func new(_ spans: [SpanRecord], besides stored: [SpanRecord]) -> [SpanRecord] {
        let all = RequestSpans(stored + spans)
        let calls = all.spans.indices.filter { all.spans[$0].request?.isCallOfSystem == true }
        let around = Set(calls.compactMap { all.outers[$0] })
        let aroundStored = Set(calls.filter { $0 < stored.count }.compactMap { all.outers[$0] })
        var first: [Int: (isNew: Int, isUnnamed: Int, depth: Int, index: Int)] = [:]
        for (index, span) in all.spans.enumerated() {
            guard let request = span.request, !around.contains(index) else { continue }
            let layers = all.layers(around: index)
            // A span around a call that arrived earlier was counted in its place, unless another stored call lies within it.
            if request.isCallOfSystem, index >= stored.count,
                layers.contains(where: { $0 < stored.count && !aroundStored.contains($0) })
            {
                continue
            }
            let outermost = request.isCallOfSystem ? index : layers.last ?? index
            let isUnnamed = request.endpoint == RequestDimensions.unknownEndpoint
            let candidate = (index < stored.count ? 0 : 1, isUnnamed ? 1 : 0, layers.count, index)
            if first[outermost].map({ candidate < $0 }) ?? true { first[outermost] = candidate }
        }
        return first.values.filter { $0.isNew == 1 }.map(\.index).sorted().map { all.spans[$0] }
    }

    /// Returns the spans around a span that report the same request, the outermost one last.
    private func layers(around index: Int) -> [Int] {
        var layers: [Int] = []
        while layers.count < Self.maxSteps, let outer = outers[layers.last ?? index] { layers.append(outer) }
        return layers
    }

    /// Returns the next span around a span that reports the same request.
    private static func outer(_ index: Int, of spans: [SpanRecord], _ parents: [Int?]) -> Int? {
        var (outer, steps) = (parents[index], 1)
        while let next = outer, spans[next].kind == .internal, steps < maxSteps {
            (outer, steps) = (parents[next], steps + 1)
        }
        return outer.flatMap { spans[index].reportsRequest(of: spans[$0]) ? $0 : nil }
    }
}

extension SpanRecord {
    /// Whether the span may report the same request as a span around it. A framework may know only the end of the path, because
    /// it is mounted at the beginning.
    fileprivate func reportsRequest(of outer: SpanRecord) -> Bool {
        guard let inner = request, let request = outer.request, inner.kind == request.kind,
            inner.system == request.system, inner.kind == .server || inner.mayHaveServer(of: request)
        else { return false }
        if inner.isCallOfSystem { return true }
        guard inner.method == request.method, inner.system == nil || inner.endpoint == request.endpoint else {
            return false
        }
        return path.hasSuffix(outer.path) || outer.path.hasSuffix(path)
    }

    /// The path in the URL, without its query, which a span may leave out; empty if it is unknown or `/`.
    private var path: Substring {
        var path = url.prefix { $0 != "?" && $0 != "#" }
        if let scheme = path.firstRange(of: "://") { path = path[scheme.upperBound...].drop { $0 != "/" } }
        while path.last == "/" { path.removeLast() }
        return path
    }
}

extension RequestDimensions {
    fileprivate var isCallOfSystem: Bool { kind == .client && system != nil }

    /// Whether both have the same server, as far as they name it.
    fileprivate func mayHaveServer(of other: RequestDimensions) -> Bool {
        (host == other.host || host.isEmpty || other.host.isEmpty)
            && (port == other.port || port == 0 || other.port == 0)
    }
}
