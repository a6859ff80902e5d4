/// The check of a name that a rule gives to a header field, or of a method: a token (RFC 9110, section 5.6.2).
enum HeaderName {
    static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 255 && EnvironmentValue.isFieldName(name)
    }
}
