/// The comparison of a text with a secret.
enum SecretText {
    /// Returns whether both are equal. Looks at every given byte, so that the time it takes tells nothing of the secret, not
    /// even its length.
    static func isEqual(_ given: String, to secret: String) -> Bool {
        let (given, secret) = (Array(given.utf8), Array(secret.utf8))
        guard !secret.isEmpty else { return false }
        var difference = given.count ^ secret.count
        for (index, byte) in given.enumerated() {
            difference |= Int(byte ^ secret[index % secret.count])
        }
        return difference == 0
    }
}
