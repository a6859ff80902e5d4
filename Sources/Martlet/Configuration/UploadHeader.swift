/// The rules for header fields that the service adds to uploads.
enum UploadHeader {
    /// Names that decide how a body is read or a connection is used. The agent and its transports set them.
    private static let reserved: Set = [
        "connection", "content-encoding", "content-length", "content-type", "expect", "host", "keep-alive",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Whether uploads can have the field: a name that the agent does not set itself, and a value of visible ASCII, blanks
    /// and tabs (RFC 9110, section 5.5) that is not empty.
    static func isAllowed(_ name: String, _ value: String) -> Bool {
        let lowercased = name.lowercased()
        return !name.isEmpty && EnvironmentValue.isFieldName(name) && !reserved.contains(lowercased)
            && !lowercased.hasPrefix("martlet-") && !value.isEmpty
            && value.utf8.allSatisfy { (0x20...0x7e).contains($0) || $0 == 0x09 }
    }
}
