/// The format of a body's text, by its media type.
enum TextFormat {
    case json
    case form
    case other

    /// Reads a media type; `nil` for a body that is not text, and for text in which names and values stand too far apart to
    /// tell a secret.
    init?(contentType: String) {
        let parts = contentType.lowercased().split(separator: ";").map { $0.trimming(while: \.isWhitespace) }
        guard let type = parts.first, parts.dropFirst().allSatisfy(Self.isReadable),
            !Self.tables.contains(where: { type.contains($0) })
        else { return nil }
        if type.hasSuffix("+json") || Self.jsonTypes.contains(String(type)) {
            self = .json
        } else if type == "application/x-www-form-urlencoded" {
            self = .form
        } else if type.hasPrefix("text/") || type.hasSuffix("+xml") || Self.otherTypes.contains(String(type)) {
            self = .other
        } else {
            return nil
        }
    }

    private static let jsonTypes: Set = [
        "application/json", "text/json", "application/x-ndjson", "application/json-seq",
    ]
    private static let otherTypes: Set = [
        "application/xml", "application/graphql", "application/javascript", "application/x-javascript",
        "application/ecmascript",
    ]
    /// Formats in which a name may be in another line than its value.
    private static let tables = ["csv", "tsv", "separated-values", "yaml", "yml"]

    /// Returns whether a parameter of the media type leaves ASCII characters unchanged, which not every `charset` does.
    private static func isReadable(_ parameter: Substring) -> Bool {
        guard parameter.hasPrefix("charset") else { return true }
        let charset = parameter.drop { $0 != "=" }.dropFirst().trimming { $0.isWhitespace || $0 == "\"" }
        return ["utf-8", "utf8", "us-ascii", "ascii"].contains(charset)
            || ["iso-8859-", "windows-125"].contains(where: charset.hasPrefix)
    }
}

extension Substring {
    fileprivate func trimming(while isTrimmed: (Character) -> Bool) -> Substring {
        var text = drop(while: isTrimmed)
        while let last = text.last, isTrimmed(last) { text.removeLast() }
        return text
    }
}
