import Fixtures

/// Random JSON with secrets in it. The same seed gives the same text. ``kinds`` consecutive seeds have a secret in
/// every position in which redaction finds one.
struct SecretJSON {
    private(set) var secrets: [String] = []
    private(set) var text = ""
    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed &* 0x9e37_79b9_7f4a_7c15)
        let sentence = literal(sentence(Int(seed % Self.kinds)))
        text = "[" + blank() + sentence + "," + object(depth: 0, isSecret: false) + "]"
    }

    /// Every run of six characters of a secret: long enough to reveal it.
    var pieces: [String] {
        secrets.flatMap { secret in
            let bytes = Array(secret.utf8)
            return (0...(bytes.count - 6)).map { String(decoding: bytes[$0..<($0 + 6)], as: UTF8.self) }
        }
    }

    // MARK: -

    private mutating func object(depth: Int, isSecret: Bool) -> String {
        let count = Int.random(in: 1...3, using: &random)
        let members = (0..<count).map { _ in member(depth: depth, isSecret: isSecret) }
        return "{" + blank() + members.joined(separator: "," + blank()) + blank() + "}"
    }

    private mutating func member(depth: Int, isSecret: Bool) -> String {
        let isSensitive = Bool.random(using: &random)
        let names = isSensitive ? ["password", "X-Api-Key", "accessToken", "client_secret", "Card-Number"] : Self.words
        let name = names.randomElement(using: &random) ?? ""
        return literal(name) + blank() + ":" + blank() + value(depth: depth + 1, isSecret: isSecret || isSensitive)
    }

    private mutating func value(depth: Int, isSecret: Bool) -> String {
        switch Int.random(in: depth < 4 ? 0...7 : 2...7, using: &random) {
        case 0: return object(depth: depth, isSecret: isSecret)
        case 1:
            let count = Int.random(in: 0...3, using: &random)
            return "[" + (0..<count).map { _ in value(depth: depth + 1, isSecret: isSecret) }.joined(separator: ",")
                + "]"
        case 2:
            return isSecret
                ? secret("123456789", length: 12) : ["-1.5e3", "true", "null", "0"].randomElement(using: &random) ?? ""
        case 3 where depth < 4: return literal(object(depth: depth + 1, isSecret: isSecret))
        default: return literal(isSecret ? secret() : sentence(Int.random(in: 0..<Int(Self.kinds), using: &random)))
        }
    }

    static let kinds: UInt64 = 9

    /// Returns a text that contains a secret, for a key that does not indicate one.
    private mutating func sentence(_ kind: Int) -> String {
        let word = Self.words.randomElement(using: &random) ?? ""
        switch kind {
        case 0: return "\(word) Bearer \(secret()) \(word)"
        case 1: return "Authorization: Basic \(secret())=\r\nHost: \(word)"
        case 2: return "see https://\(secret()):\(secret())'\(secret())@\(word).example/path?\(word)=1"
        case 3: return "\(word) \(token()) \(word)"
        case 4: return "\(word)=1&refresh_token=\(secret())&\(word)=2"
        case 5: return "<\(word)><password>\(secret())</password></\(word)>"
        case 6: return "password: '\(secret())' \(word)"
        case 7: return "\(word) -----BEGIN PRIVATE KEY-----\n\(secret())\n-----END PRIVATE KEY-----"
        default: return "\(word) \"\(word)\" \u{e9}\u{1f600} \\ \(word)"
        }
    }

    private mutating func secret(
        _ characters: String = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789", length: Int = 16
    ) -> String {
        let secret = String((0..<length).map { _ in characters.randomElement(using: &random) ?? "X" })
        secrets.append(secret)
        return secret
    }

    private mutating func token() -> String {
        let token = "eyJ\(secret()).\(secret()).\(secret())"
        secrets.append(String(token.prefix(12)))
        return token
    }

    /// Returns a string literal in which any character may be escaped, even unnecessarily.
    private mutating func literal(_ text: String) -> String {
        "\"" + text.utf16.map { escaped($0) }.joined() + "\""
    }

    private mutating func escaped(_ unit: UInt16) -> String {
        switch unit {
        case 0x0a: return "\\n"
        case 0x0d: return "\\r"
        case 0x22, 0x5c: return "\\" + String(decoding: [unit], as: UTF16.self)
        case 0x2f where Bool.random(using: &random): return "\\/"
        default:
            // Upper-case letters and digits stay unescaped, because the test looks for the secrets literally.
            let isPlain = unit < 0x80 && (unit < 0x61 || Int.random(in: 0...9, using: &random) > 0)
            let digits = String(unit, radix: 16)
            return isPlain
                ? String(decoding: [unit], as: UTF16.self)
                : "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    private mutating func blank() -> String { ["", "", " ", "\n  ", "\t"].randomElement(using: &random) ?? "" }

    private static let words = ["name", "first", "note", "a", "item", "caf\u{e9}"]
}
