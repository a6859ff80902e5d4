import MartletTelemetry

/// Takes secrets out of what kept details say of a request: its URL, header fields and bodies.
///
/// A plain value, made once for an agent. Nothing here fails: what is not understood is taken out rather than left in. All
/// of it takes time in proportion to the length of its input. `docs/redaction.md` says what is found and what is not.
struct Redaction: Sendable {
    /// What stands where a secret was (OpenTelemetry semantic conventions, "url.full").
    static let placeholder = "REDACTED"
    static let placeholderBytes = Array(placeholder.utf8)

    private let names: SensitiveNames
    private let urls: URLRedaction

    /// - Parameters:
    ///   - adding: names beside the built-in list, `MARTLET_REDACT`.
    ///   - keepsSegments: values stay among the segments of paths, `MARTLET_CAPTURE_PATHS`.
    init(adding: [String] = [], keepsSegments: Bool = false) {
        names = SensitiveNames(adding: adding)
        urls = URLRedaction(keepsSegments: keepsSegments)
    }

    /// A URL without its secrets, cut to ``MartletLimits/urlLength``.
    func url(_ url: String) -> String {
        urls.redact(url).cut(toBytes: MartletLimits.urlLength)
    }

    /// What an error said, cut to ``MartletLimits/messageLength``.
    func message(_ text: String) -> String { self.text(text, limit: MartletLimits.messageLength) }

    /// Text of any kind. What is beyond the limit is not looked at, as it may be of any length.
    ///
    /// - Parameter limit: bytes that are kept.
    func text(_ text: String, limit: Int) -> String {
        let beginning = text.cut(toBytes: limit)
        let isCutOff = beginning.utf8.count < text.utf8.count
        let redacted = TextRedaction.redact(
            [UInt8](beginning.utf8), names: names, keepsSegments: urls.keepsSegments, isCutOff: isCutOff)
        return String(decoding: redacted, as: UTF8.self).cut(toBytes: limit)
    }

    /// The same fields in the same order.
    func headers(_ fields: [(name: String, value: String)]) -> [(name: String, value: String)] {
        fields.map { ($0.name, header($0.name, $0.value, limit: MartletLimits.headerBytes)) }
    }

    /// The value of a header field.
    ///
    /// - Parameter limit: bytes that are kept.
    func header(_ name: String, _ value: String, limit: Int) -> String {
        if names.contain(Array(name.utf8)[...]) { return Self.placeholder }
        return Self.fieldsWithURL.contains(name.lowercased()) ? url(value) : text(value, limit: limit)
    }

    /// A body as text; `nil` when it is no text, or of a format in which secrets cannot be told.
    ///
    /// - Parameters:
    ///   - bytes: without any content coding.
    ///   - contentType: the value of the header field `Content-Type`.
    ///   - isTruncated: whether `bytes` are the beginning of a longer body.
    func body(_ bytes: some Collection<UInt8>, contentType: String?, isTruncated: Bool) -> String? {
        // A zero is in no text of one byte a character; in UTF-16 no name would be found.
        guard let format = contentType.flatMap(TextFormat.init), !bytes.contains(0) else { return nil }
        var text = isTruncated ? Self.wholeCharacters(bytes) : [UInt8](bytes)
        text = TextRedaction.redact(
            text, names: names, keepsSegments: urls.keepsSegments, isJSON: format == .json, isCutOff: isTruncated)
        if format == .form {
            let form = FormRedaction(names: names, keepsSegments: urls.keepsSegments, isCutOff: isTruncated)
            text = form.redact(text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let fieldsWithURL: Set = ["location", "content-location", "referer"]

    /// Without a last character of which only the first bytes are there.
    private static func wholeCharacters(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let bytes = [UInt8](bytes)
        guard let lead = bytes.suffix(3).lastIndex(where: { $0 & 0xc0 != 0x80 }) else { return bytes }
        let length = (~bytes[lead]).leadingZeroBitCount
        return length > bytes.count - lead ? Array(bytes[..<lead]) : bytes
    }
}
