import MartletTelemetry

/// Names endpoints: maps paths to a small number of names. Pure; it never sees a query string.
///
/// A template of the user has priority. Otherwise the segments that look like values become `{id}`. It works on bytes,
/// because it may run for every request.
struct EndpointNamer: Sendable {
    /// The number of segments after which the rest of a path becomes `{rest}`.
    static let maxSegments = 16
    /// The greatest length of a name, in bytes. A longer name is cut to its first segment and `{rest}`.
    static let maxLength = StatementShape.maxLength

    private static let slash = UInt8(ascii: "/")
    private static let id = Array("{id}".utf8)
    private static let rest = Array("{rest}".utf8)

    private let templates: [EndpointTemplate]

    /// Makes a namer with templates. Ignores invalid templates; ``MartletConfiguration/fromEnvironment(_:)`` has warned
    /// of them.
    init(templates: [String] = []) {
        self.templates = templates.compactMap(EndpointTemplate.init)
    }

    /// Returns the name of a path.
    ///
    /// - Parameters:
    ///   - path: the path as in the URL, percent-encoded.
    ///   - isValue: returns whether a segment that looks like a name is a value, by the name of the path before it.
    func endpoint(
        ofPath path: String, isValue: (_ segment: ArraySlice<UInt8>, _ prefix: [UInt8]) -> Bool = { _, _ in false }
    ) -> String {
        let bytes = Array(path.utf8)
        let segments = Self.segments(of: bytes)
        if let template = templates.first(where: { $0.matches(segments) }) { return template.name }
        var name: [UInt8] = []
        name.reserveCapacity(bytes.count + 1)
        for (index, segment) in segments.enumerated() {
            name.append(Self.slash)
            if index == Self.maxSegments {
                name.append(contentsOf: Self.rest)
            } else {
                Self.append(segment, to: &name, isValue)
            }
        }
        return name.count > Self.maxLength ? Self.shortened(name) : String(decoding: name, as: UTF8.self)
    }

    /// Returns the endpoint of an incoming request without a route. Only a template of the user names it, because clients
    /// may try any path.
    func endpoint(ofUnroutedPath path: String) -> String {
        guard !templates.isEmpty else { return RequestDimensions.unmatched }
        let segments = Self.segments(of: Array(path.utf8))
        return templates.first { $0.matches(segments) }?.name ?? RequestDimensions.unmatched
    }

    private static func segments(of path: [UInt8]) -> [ArraySlice<UInt8>] {
        path.dropFirst(path.first == slash ? 1 : 0)
            .split(separator: slash, maxSplits: maxSegments, omittingEmptySubsequences: false)
    }

    private static func append(
        _ segment: ArraySlice<UInt8>, to name: inout [UInt8], _ isValue: (ArraySlice<UInt8>, [UInt8]) -> Bool
    ) {
        switch SegmentShape(of: segment) {
        case .value(let suffix): name.append(contentsOf: id + suffix)
        case .name where !segment.isEmpty && isValue(segment, name):
            name.append(contentsOf: id + SegmentShape.suffix(of: segment))
        case .name: name.append(contentsOf: segment)
        }
    }

    private static func shortened(_ name: [UInt8]) -> String {
        let first = name.dropFirst().prefix { $0 != slash }
        let kept = first.count > maxLength ? [] : [slash] + first
        return String(decoding: kept + [slash] + rest, as: UTF8.self)
    }
}
