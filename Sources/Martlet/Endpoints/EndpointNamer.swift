/// The naming of endpoints: a path becomes a name of few values. Pure; it never sees a query string.
///
/// A template of the user's has priority. Otherwise the segments that look like values become `{id}`. It works on bytes,
/// because it may run for every request.
struct EndpointNamer: Sendable {
    /// The number of segments after which the rest of a path is `{rest}`.
    static let maxSegments = 16
    /// The greatest length of a name, in bytes. A longer name is cut to its first segment and `{rest}`.
    static let maxLength = 200

    private static let slash = UInt8(ascii: "/")
    private static let id = Array("{id}".utf8)
    private static let rest = Array("{rest}".utf8)

    private let templates: [EndpointTemplate]

    /// Makes a namer with templates. Text that is not a template is left out; ``MartletConfiguration/fromEnvironment(_:)``
    /// has warned of it.
    init(templates: [String] = []) {
        self.templates = templates.compactMap(EndpointTemplate.init)
    }

    /// - Parameter path: the path as it stands in the URL, percent-encoded.
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
