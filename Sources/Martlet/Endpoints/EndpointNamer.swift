/// Names a request's endpoint: method, host and path become a name of few values. Pure; it never sees a query string.
///
/// A template of the user's wins; otherwise the segments that look like values become `{id}`.
struct EndpointNamer: Sendable {
    /// Past this many segments the rest of a path is `{rest}`.
    static let maxSegments = 16
    /// A name that would be longer is cut to its first segment and `{rest}`.
    static let maxLength = 200

    private let templates: [EndpointTemplate]

    /// Text that is no template is left out; ``MartletConfiguration/fromEnvironment(_:)`` has warned of it.
    init(templates: [String] = []) {
        self.templates = templates.compactMap(EndpointTemplate.init)
    }

    /// - Parameter path: as it stands in the URL, percent-encoded.
    func endpoint(ofPath path: String) -> String {
        let segments = path.dropFirst(path.hasPrefix("/") ? 1 : 0)
            .split(separator: "/", maxSplits: Self.maxSegments, omittingEmptySubsequences: false)
        if let template = templates.first(where: { $0.matches(segments) }) { return template.name }
        var name = ""
        for (index, segment) in segments.enumerated() {
            name += "/"
            name += index == Self.maxSegments ? "{rest}" : SegmentShape.name(of: segment)
            if name.utf8.count > Self.maxLength { return Self.shortened(name) }
        }
        return name
    }

    private static func shortened(_ name: String) -> String {
        let first = name.dropFirst().prefix { $0 != "/" }
        return first.utf8.count > maxLength ? "/{rest}" : "/\(first)/{rest}"
    }
}
