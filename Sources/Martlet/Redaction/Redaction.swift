import MartletTelemetry

/// Redacts kept details: it removes secrets from a request's URL, header fields, bodies and error message.
///
/// A plain value, made once for an agent. No function here fails: text that cannot be parsed is removed. Each function
/// takes time in proportion to the length of its input. `docs/privacy.md` lists the secrets that are found and those
/// that are missed.
struct Redaction: Sendable {
    /// The bytes of ``SpanSecrets/placeholder``.
    static let placeholderBytes = Array(SpanSecrets.placeholder.utf8)

    private let names: SensitiveNames
    private let urls: URLRedaction

    /// - Parameters:
    ///   - adding: names in addition to the built-in list, `MARTLET_REDACT`.
    ///   - keepsSegments: whether to keep values among the segments of paths, `MARTLET_CAPTURE_PATHS`.
    init(adding: [String] = [], keepsSegments: Bool = false) {
        names = SensitiveNames(adding: adding)
        urls = URLRedaction(keepsSegments: keepsSegments)
    }

    /// Returns a URL without its secrets, cut to ``MartletLimits/urlLength``.
    func url(_ url: String) -> String {
        urls.redact(url).cut(toBytes: MartletLimits.urlLength)
    }

    /// Returns an error's message without its secrets, cut to ``MartletLimits/messageLength``.
    func message(_ text: String) -> String { self.text(text, limit: MartletLimits.messageLength) }

    /// Returns text of any kind without its secrets. The part beyond the limit is not read, because it may be of any
    /// length.
    ///
    /// - Parameter limit: the maximum number of bytes to keep.
    func text(_ text: String, limit: Int) -> String {
        let beginning = text.cut(toBytes: limit)
        let isCutOff = beginning.utf8.count < text.utf8.count
        let redacted = TextRedaction.redact(
            [UInt8](beginning.utf8), names: names, keepsSegments: urls.keepsSegments, isCutOff: isCutOff)
        return String(decoding: redacted, as: UTF8.self).cut(toBytes: limit)
    }

    /// Returns the same fields in the same order, without the secrets in their values.
    func headers(_ fields: [(name: String, value: String)]) -> [(name: String, value: String)] {
        fields.map { ($0.name, header($0.name, $0.value, limit: MartletLimits.headerBytes)) }
    }

    /// Returns the value of a header field without its secrets.
    ///
    /// - Parameter limit: the maximum number of bytes to keep.
    func header(_ name: String, _ value: String, limit: Int) -> String {
        if names.contains(Array(name.utf8)[...]) { return SpanSecrets.placeholder }
        return SpanSecrets.urlHeaders.contains(name.lowercased()) ? url(value) : text(value, limit: limit)
    }

    /// Returns a body as text without its secrets. `nil` for a body that is not text, or in a format in which secrets
    /// cannot be recognised.
    ///
    /// - Parameters:
    ///   - bytes: the body without any content coding.
    ///   - contentType: the value of the header field `Content-Type`.
    ///   - isTruncated: whether `bytes` are the beginning of a longer body.
    func body(_ bytes: some Collection<UInt8>, contentType: String?, isTruncated: Bool) -> String? {
        // Text with one byte for each ASCII character contains no zero. A zero may mean UTF-16, in which no name would
        // be found.
        guard let format = contentType.flatMap(TextFormat.init), !bytes.contains(0) else { return nil }
        var text = isTruncated ? Self.wholeCharacters(bytes) : [UInt8](bytes)
        let names = names.ofText(text)
        text = TextRedaction.redact(
            text, names: names, keepsSegments: urls.keepsSegments, isJSON: format == .json, isCutOff: isTruncated)
        if format == .form {
            let form = FormRedaction(names: names, keepsSegments: urls.keepsSegments, isCutOff: isTruncated)
            text = form.redact(text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes without an incomplete character at the end.
    private static func wholeCharacters(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let bytes = [UInt8](bytes)
        guard let lead = bytes.suffix(3).lastIndex(where: { $0 & 0xc0 != 0x80 }) else { return bytes }
        let length = (~bytes[lead]).leadingZeroBitCount
        return length > bytes.count - lead ? Array(bytes[..<lead]) : bytes
    }
}

/// The format of a body's text, by its media type.
enum TextFormat {
    case json
    case form
    case other

    /// Reads a media type. `nil` for a body that is not text, and for text in which names are too far from their values
    /// to recognise a secret.
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
    /// Formats in which a name may be on another line than its value.
    private static let tables = ["csv", "tsv", "separated-values", "yaml", "yml"]

    /// Returns whether the text stays ASCII-compatible with a parameter of the media type; some `charset`s are not.
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

/// Redacts a form's body: it removes the values of sensitive names, and the secrets in all other values.
struct FormRedaction {
    let names: SensitiveNames
    let keepsSegments: Bool
    let isCutOff: Bool

    func redact(_ form: [UInt8]) -> [UInt8] {
        let pairs = form.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return Array(pairs.map(pair).joined(separator: "&".utf8))
    }

    private func pair(_ pair: ArraySlice<UInt8>) -> [UInt8] {
        let name = pair.prefix { $0 != UInt8(ascii: "=") }
        guard name.count < pair.count else { return text(pair) }
        let value = pair[(name.endIndex + 1)...]
        let kept: [UInt8] = names.contains(encoded: name) ? Redaction.placeholderBytes : text(value)
        return text(name) + [UInt8(ascii: "=")] + kept
    }

    /// Redacts a name or a value. Text without secrets keeps its encoding.
    private func text(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let decoded = PercentEncoding.decode(text)
        let redacted = TextRedaction.redact(
            decoded, names: names, keepsSegments: keepsSegments, isCutOff: isCutOff)
        return redacted == decoded ? Array(text) : PercentEncoding.encode(redacted)
    }
}

extension SensitiveNames {
    /// Returns whether the value of a name is a secret. The name may be percent-encoded.
    func contains(encoded name: ArraySlice<UInt8>) -> Bool {
        name.contains(UInt8(ascii: "%")) ? contains(PercentEncoding.decode(name)[...]) : contains(name)
    }

    /// Returns the names that are sensitive in a text. The code of a token request (RFC 6749, section 4.1.3) is as good
    /// as a password; elsewhere a code may be any number.
    func ofText(_ text: [UInt8]) -> SensitiveNames {
        let isTokenRequest = text.indices.contains { start in
            text[start] == UInt8(ascii: "g") && Self.grants.contains { text[start...].starts(with: $0) }
        }
        var names = self
        if isTokenRequest { names.insert("code") }
        return names
    }

    private static let grants = ["grant_type".utf8, "grantType".utf8]
}
