import MartletOTLP

extension [OTLPKeyValue] {
    /// Returns the text of an attribute; `nil` if the attribute is missing, empty or not a text. A text longer than
    /// ``IntakeLimits/longestName`` is returned unchanged, and the caller refuses or cuts it.
    func text(_ name: String) -> String? {
        guard case .stringValue(let text)? = first(where: { $0.key == name })?.value.value, !text.isEmpty else {
            return nil
        }
        return text.utf8.count <= IntakeLimits.longestName ? text.storable(upTo: 3 * IntakeLimits.longestName) : text
    }

    func integer(_ name: String) -> Int? {
        guard case .intValue(let value)? = first(where: { $0.key == name })?.value.value else { return nil }
        return Int(exactly: value)
    }
}
