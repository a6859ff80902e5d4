import MartletOTLP

extension [OTLPKeyValue] {
    /// The text of an attribute; `nil` where it is missing, empty or no text.
    func text(_ name: String) -> String? {
        guard case .stringValue(let text)? = first(where: { $0.key == name })?.value.value, !text.isEmpty else {
            return nil
        }
        return text
    }

    func integer(_ name: String) -> Int? {
        guard case .intValue(let value)? = first(where: { $0.key == name })?.value.value else { return nil }
        return Int(exactly: value)
    }
}
