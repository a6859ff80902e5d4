import MartletTelemetry

extension RequestDimensions {
    /// Returns a host as it is stored: in lower case, because the case of a host has no meaning (RFC 3986, section 3.2.2), and an IPv6
    /// address without its brackets. So one server has one name.
    ///
    /// - Parameter text: a host without a port. One with a port keeps its brackets.
    package static func storedHost(_ text: some StringProtocol) -> String {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]") && text.utf8.count > 2
        return isBracketed ? text.dropFirst().dropLast().lowercased() : text.lowercased()
    }
}
