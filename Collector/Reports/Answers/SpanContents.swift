import MartletOTLP
import MartletStorage
import MartletTelemetry

/// The attributes of a kept span, sorted by their meaning.
struct SpanContents {
    /// Milliseconds by ``RequestPhase``.
    private(set) var phases: [String: Double] = [:]
    private(set) var requestHeaders: [String: [String]] = [:]
    private(set) var responseHeaders: [String: [String]] = [:]
    private(set) var requestBody: String?
    private(set) var responseBody: String?
    /// All other attributes.
    private(set) var others: [String: SpanAttribute] = [:]

    init(_ span: SpanRecord) {
        for (name, value) in span.attributes where !add(name, value) { others[name] = value }
    }

    /// Seconds of a phase at most: some thirty years.
    private static let longestPhase = 1e9

    /// Returns `false` for an attribute without a property of its own.
    private mutating func add(_ name: String, _ value: SpanAttribute) -> Bool {
        if let phase = name.suffix(after: AttributeName.phase), RequestPhase(rawValue: phase) != nil,
            case .double(let seconds) = value
        {
            // A time of nonsense is left out: JSON has no word for it.
            if (0...Self.longestPhase).contains(seconds) { phases[phase] = seconds * 1000 }
        } else if let field = name.suffix(after: AttributeName.requestHeaderPrefix), let texts = value.texts {
            requestHeaders[field] = texts
        } else if let field = name.suffix(after: AttributeName.responseHeaderPrefix), let texts = value.texts {
            responseHeaders[field] = texts
        } else if name == AttributeName.requestBody, case .string(let text) = value {
            requestBody = text
        } else if name == AttributeName.responseBody, case .string(let text) = value {
            responseBody = text
        } else {
            return false
        }
        return true
    }
}

extension String {
    /// Returns the text after a prefix and a dot; `nil` if the text begins in another way.
    fileprivate func suffix(after prefix: String) -> String? {
        hasPrefix(prefix + ".") ? String(dropFirst(prefix.count + 1)) : nil
    }
}

extension SpanAttribute {
    /// The value as a list of texts; `nil` if it is neither a text nor a list of texts.
    fileprivate var texts: [String]? {
        switch self {
        case .string(let text): [text]
        case .array(let elements):
            elements.reduce([]) { texts, value in
                guard let texts, case .string(let text) = value else { return nil }
                return texts + [text]
            }
        case .integer, .double, .boolean: nil
        }
    }
}
