/// The redaction of a form's body: it takes out the values of sensitive names, and the secrets in all other values.
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
        return text(name) + [UInt8(ascii: "=")] + (names.contains(name) ? Redaction.placeholderBytes : text(value))
    }

    /// Redacts a name or a value. Text without secrets keeps its encoding.
    private func text(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let decoded = PercentEncoding.decode(text)
        let redacted = TextRedaction.redact(
            decoded, names: names, keepsSegments: keepsSegments, isCutOff: isCutOff)
        return redacted == decoded ? Array(text) : PercentEncoding.encode(redacted)
    }
}
