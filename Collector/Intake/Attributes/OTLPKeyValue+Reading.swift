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

    /// Returns a whole number, which some pipelines write as a text or as a floating-point number.
    func integer(_ name: String) -> Int? {
        switch first(where: { $0.key == name })?.value.value {
        case .intValue(let value)?: Int(exactly: value)
        case .doubleValue(let value)?: Int(exactly: value)
        case .stringValue(let text)?: Int(text)
        default: nil
        }
    }
}
