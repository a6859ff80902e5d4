/// Names of header fields, parameters, keys and elements whose values are secrets. The agent looks for them in all that
/// it keeps, and the collector in the header fields of spans (``SpanSecrets``).
///
/// Names are compared without case and punctuation, so that `X-Api-Key`, `apiKey` and `api_key` are the same. The
/// semantic conventions list some in a certain case (`AWSAccessKeyId`, `Signature`, `sig`, `X-Goog-Signature`); here
/// they match in any case.
package struct SensitiveNames: Sendable {
    /// A name that contains one of these is sensitive.
    private static let parts = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "accesskey", "privatekey",
        "authorization", "authentication", "bearer", "session", "signature", "credential", "cookie", "assertion",
        "samlresponse", "csrf", "xsrf",
    ].map { Array($0.utf8) }

    /// A name that ends in one of these is sensitive: `Ocp-Apim-Subscription-Key`, `AccountKey`, `X-Sentry-Auth`.
    private static let ends = ["key", "auth"].map { Array($0.utf8) }

    /// Names that end in one of these, or are one of them, are not sensitive because of their end. They identify data,
    /// or are ordinary words.
    private static let harmlessEnds = [
        "publickey", "primarykey", "foreignkey", "partitionkey", "sortkey", "hashkey", "rangekey", "rowkey",
        "routingkey", "cachekey", "idempotencykey", "surrogatekey", "groupkey", "objectkey", "lookupkey", "messagekey",
        "dedupkey", "deduplicationkey", "translationkey", "i18nkey", "hotkey", "sitekey", "shardkey", "uniquekey",
        "naturalkey", "websocketkey", "keykey", "urlkey", "urlstringkey", "errorkey", "errordomainkey", "errorcodekey",
        "monkey", "donkey", "turkey", "hockey", "jockey", "whiskey",
    ].map { Array($0.utf8) }

    /// Names that are sensitive only as a whole. They are too short, or too common within other words, to search for
    /// inside a name.
    private static let wholes = [
        "auth", "xauth", "pass", "pwd", "pw", "pin", "otp", "totp", "sid", "sig", "jwt", "dpop", "nonce", "cvv", "cvc",
        "ssn", "codeverifier", "wwwauthenticate", "proxyauthenticate", "xforwardedclientcert", "xhoneycombteam",
        "devicecode", "authcode",
    ]

    private var wholes: Set<[UInt8]>

    /// - Parameter adding: whole names in addition to the built-in ones. A name without a letter or digit is ignored.
    package init(adding: [String] = []) {
        wholes = Set((Self.wholes + adding).map { Self.plain(Array($0.utf8)[...]) }.filter { !$0.isEmpty })
    }

    /// Adds a whole name.
    package mutating func insert(_ name: String) { wholes.insert(Self.plain(Array(name.utf8)[...])) }

    /// Returns whether the value of a name is a secret. The name is not percent-encoded.
    package func contains(_ name: ArraySlice<UInt8>) -> Bool {
        let name = Self.plain(name)
        return wholes.contains(name) || Self.hasSensitiveEnd(name)
            || name.indices.contains { start in
                Self.parts.contains { $0[0] == name[start] && name[start...].starts(with: $0) }
            }
    }

    /// Returns whether a name has a sensitive end. The name `key` itself has none: it mostly holds another name, not a
    /// secret.
    private static func hasSensitiveEnd(_ name: [UInt8]) -> Bool {
        guard name.count > 3, ends.contains(where: name.hasSuffix) else { return false }
        return !harmlessEnds.contains(where: name.hasSuffix)
    }

    /// Returns a name in lower case and without punctuation.
    private static func plain(_ name: ArraySlice<UInt8>) -> [UInt8] {
        let isASCII = name.allSatisfy { $0 < 0x80 }
        let name = isASCII ? name : Array(String(decoding: name, as: UTF8.self).lowercased().utf8)[...]
        return name.compactMap { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: byte
            default: nil
            }
        }
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}
