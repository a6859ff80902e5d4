import MartletTelemetry

/// Names endpoints: maps paths to a small number of names. Pure; it never sees a query string.
///
/// A template of the user has priority. Otherwise the segments that look like values become `{id}`. It works on bytes,
/// because it may run for every request.
struct EndpointNamer: Sendable {
    /// The number of segments after which the rest of a path becomes `{rest}`.
    static let maxSegments = 16
    /// The greatest length of a name, in bytes. A longer name is cut to its first segment and `{rest}`.
    static let maxLength = 200

    private static let slash = UInt8(ascii: "/")
    private static let id = Array("{id}".utf8)
    private static let rest = Array("{rest}".utf8)

    private let templates: [EndpointTemplate]

    /// Makes a namer with templates. Ignores invalid templates; ``MartletConfiguration/fromEnvironment(_:)`` has warned
    /// of them.
    init(templates: [String] = []) {
        self.templates = templates.compactMap(EndpointTemplate.init)
    }

    /// - Parameter path: the path as in the URL, percent-encoded.
    func endpoint(ofPath path: String) -> String {
        let bytes = Array(path.utf8)
        let segments = bytes.dropFirst(bytes.first == Self.slash ? 1 : 0)
            .split(separator: Self.slash, maxSplits: Self.maxSegments, omittingEmptySubsequences: false)
        if let template = templates.first(where: { $0.matches(segments) }) { return template.name }
        var name: [UInt8] = []
        name.reserveCapacity(bytes.count + 1)
        for (index, segment) in segments.enumerated() {
            name.append(Self.slash)
            if index == Self.maxSegments { name.append(contentsOf: Self.rest) } else { Self.append(segment, to: &name) }
        }
        return name.count > Self.maxLength ? Self.shortened(name) : String(decoding: name, as: UTF8.self)
    }

    private static func append(_ segment: ArraySlice<UInt8>, to name: inout [UInt8]) {
        switch SegmentShape(of: segment) {
        case .name: name.append(contentsOf: segment)
        case .value(let suffix):
            name.append(contentsOf: id)
            name.append(contentsOf: suffix)
        }
    }

    private static func shortened(_ name: [UInt8]) -> String {
        let first = name.dropFirst().prefix { $0 != slash }
        let kept = first.count > maxLength ? [] : [slash] + first
        return String(decoding: kept + [slash] + rest, as: UTF8.self)
    }
}

/// A limit on the number of distinct endpoints, so that no URL can make the agent or the collector grow without bound.
/// The first endpoints keep their names, and later ones are counted under `{other}`. An endpoint that was not seen for
/// a day gives up its place.
struct EndpointBudget: Sendable {
    private struct Key: Hashable {
        let host: String
        let port: Int
        let endpoint: String

        init(_ dimensions: RequestDimensions) {
            host = dimensions.host
            port = dimensions.port
            endpoint = dimensions.endpoint
        }
    }

    private let limit: Int
    /// The time of the last request to each named endpoint.
    private var named: [Key: UnixNanoseconds] = [:]
    private var overflowHosts: [Key: UnixNanoseconds] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns the dimensions under which a request is counted: its own endpoint within the limit, and `{other}` of its
    /// host above it. The same limit applies to hosts, and above it the host is `{other}` as well.
    ///
    /// - Parameter now: the approximate time of the request.
    mutating func admit(_ wanted: RequestDimensions, at now: UnixNanoseconds) -> RequestDimensions {
        var dimensions = wanted
        if Self.admit(Key(dimensions), to: &named, limit: limit, at: now) { return dimensions }
        dimensions.endpoint = RequestDimensions.other
        if Self.admit(Key(dimensions), to: &overflowHosts, limit: limit, at: now) { return dimensions }
        dimensions.host = RequestDimensions.other
        dimensions.port = 0
        return dimensions
    }

    /// Forgets endpoints and hosts not seen for ``MartletLimits/unusedEndpoint``, if their limit is reached. Call it
    /// now and then.
    mutating func forgetUnused(at now: UnixNanoseconds) {
        for keys in [\EndpointBudget.named, \.overflowHosts] where self[keyPath: keys].count >= limit {
            self[keyPath: keys] = self[keyPath: keys].filter { _, seen in
                seen > now || now - seen < MartletLimits.unusedEndpoint.nanoseconds
            }
        }
    }

    private static func admit(
        _ key: Key, to keys: inout [Key: UnixNanoseconds], limit: Int, at now: UnixNanoseconds
    ) -> Bool {
        guard keys[key] != nil || keys.count < limit else { return false }
        keys[key] = now
        return true
    }
}
