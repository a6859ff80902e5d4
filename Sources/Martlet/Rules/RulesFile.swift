import Foundation

/// A file of rules, reloaded when it changes. A change that keeps the file's inode, size and time is not detected.
struct RulesFile: Sendable {
    private let url: URL
    private var seen: Identity?

    /// The properties that identify the version of the file that was read; `nil` fields if the file is missing.
    private struct Identity: Sendable, Equatable {
        var inode: UInt64?
        var size: Int64?
        var seconds: Int?
        var nanoseconds: Int?

        init(_ url: URL) {
            var status = stat()
            guard stat(url.path, &status) == 0 else { return }
            let time = status.modification
            (inode, size) = (UInt64(status.st_ino), Int64(status.st_size))
            (seconds, nanoseconds) = (Int(time.tv_sec), Int(time.tv_nsec))
        }
    }

    init(_ url: URL) {
        self.url = url
    }

    /// Returns the file's rules, or its first error; `nil` if it has not changed since the last call.
    mutating func readIfChanged() -> Result<[MartletRule], RuleError>? {
        let identity = Identity(url)
        guard identity != seen else { return nil }
        seen = identity
        do throws(RuleError) {
            return .success(try RuleDocument.rules(in: try text()))
        } catch {
            return .failure(error)
        }
    }

    private func text() throws(RuleError) -> Data {
        var status = stat()
        // Reading a pipe would block.
        guard stat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let text = try? FileHandle(forReadingFrom: url).read(upToCount: MartletLimits.rulesFile + 1)
        else { throw RuleError(place: "", "the file is missing or cannot be read") }
        guard text.count <= MartletLimits.rulesFile else {
            throw RuleError(place: "", "the file is larger than \(MartletLimits.rulesFile) bytes")
        }
        return text
    }
}

/// The text of a rules file (JSON5), as described in `docs/rules.md`. An unknown key is an error.
struct RuleDocument: Decodable {
    let rules: [MartletRule]

    /// Reads a text as a whole.
    static func rules(in text: Data) throws(RuleError) -> [MartletRule] {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            return try decoder.decode(RuleDocument.self, from: text).rules
        } catch let error as DecodingError {
            throw RuleError(error)
        } catch {
            throw RuleError(place: "", "\(error)")
        }
    }

    init(from decoder: any Decoder) throws {
        let text = try RuleText(decoder, keys: ["rules"])
        rules = try text.required([Rule].self, "rules").map(\.value)
    }

    private struct Rule: Decodable {
        var value = MartletRule()

        init(from decoder: any Decoder) throws {
            let text = try RuleText(
                decoder,
                keys: ["name", "match", "header", "connect", "redirect", "respond", "delay", "fail", "block"])
            value.name = try text.optional(String.self, "name")
            value.match = try text.required(Match.self, "match").value
            value.header = try text.optional(Header.self, "header")?.value ?? value.header
            value.connect = try text.optional(String.self, "connect")
            value.redirect = try text.read("redirect", as: "an http or https URL", EnvironmentValue.address)
            value.respond = try text.optional(Response.self, "respond")?.value
            value.delay = try text.read("delay", as: "a duration, such as 400ms", EnvironmentValue.duration) ?? .zero
            let failures = MartletRule.Failure.allCases.map(\.rawValue).joined(separator: ", ")
            value.fail = try text.read("fail", as: "one of \(failures)", MartletRule.Failure.init)
            value.block = try text.optional(Bool.self, "block") ?? false
        }
    }

    private struct Match: Decodable {
        var value = MartletRule.Match()

        init(from decoder: any Decoder) throws {
            let text = try RuleText(decoder, keys: ["host", "port", "path", "method", "header", "share"])
            value.host = try text.optional(String.self, "host")
            value.port = try text.optional(Int.self, "port")
            value.path = try text.optional(String.self, "path")
            value.method = try text.optional(String.self, "method")
            value.header = try text.optional([String: String].self, "header") ?? [:]
            value.share =
                try text.read("share", as: "a share, such as \"5%\"", EnvironmentValue.positiveShare) ?? value.share
        }
    }

    private struct Header: Decodable {
        var value = MartletRule.Header()

        init(from decoder: any Decoder) throws {
            let text = try RuleText(decoder, keys: ["set", "remove"])
            value.set = try text.optional([String: String].self, "set") ?? [:]
            value.remove = try text.optional([String].self, "remove") ?? []
        }
    }

    private struct Response: Decodable {
        var value: MartletRule.Response

        init(from decoder: any Decoder) throws {
            let text = try RuleText(decoder, keys: ["status", "headers", "body"])
            value = MartletRule.Response(
                status: try text.required(Int.self, "status"),
                headers: try text.optional([String: String].self, "headers") ?? [:],
                body: Data((try text.optional(String.self, "body") ?? "").utf8))
        }
    }
}

/// One object of a rules file.
private struct RuleText {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let container: KeyedDecodingContainer<Key>

    /// - Throws: if the object has another key.
    init(_ decoder: any Decoder, keys: [String]) throws {
        container = try decoder.container(keyedBy: Key.self)
        for key in container.allKeys where !keys.contains(key.stringValue) {
            throw mistake(at: key.stringValue, "unknown key; known are \(keys.joined(separator: ", "))")
        }
    }

    func required<Value: Decodable>(_ type: Value.Type, _ key: String) throws -> Value {
        try container.decode(type, forKey: Key(stringValue: key))
    }

    func optional<Value: Decodable>(_ type: Value.Type, _ key: String) throws -> Value? {
        let key = Key(stringValue: key)
        return container.contains(key) ? try container.decode(type, forKey: key) : nil
    }

    /// Reads a text, or a number as its text.
    func read<Value>(_ key: String, as form: String, _ value: (String) -> Value?) throws -> Value? {
        guard container.contains(Key(stringValue: key)) else { return nil }
        let number = try? optional(Double.self, key)
        guard let text = try number.map({ "\($0)" }) ?? optional(String.self, key) else { return nil }
        guard let value = value(text) else {
            // An address may contain a password.
            let shown = text.contains("@") ? "the text" : "\"\(text)\""
            throw mistake(at: key, "\(shown) is not \(form)")
        }
        return value
    }

    private func mistake(at key: String, _ reason: String) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: container.codingPath + [Key(stringValue: key)], debugDescription: reason))
    }
}

extension RuleError {
    fileprivate init(_ error: DecodingError) {
        switch error {
        case .dataCorrupted(let context):
            let place = Self.place(context.codingPath)
            self.init(place: place, place.isEmpty ? "not valid JSON5" : context.debugDescription)
        case .keyNotFound(let key, let context):
            self.init(place: Self.place(context.codingPath + [key]), "the key is missing")
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            self.init(place: Self.place(context.codingPath), "not \(Self.name(of: type))")
        @unknown default: self.init(place: "", "\(error)")
        }
    }

    /// Returns the rule's number and the key in it.
    private static func place(_ path: [any CodingKey]) -> String {
        var rest = path[...]
        guard rest.first?.stringValue == "rules", let index = rest.dropFirst().first?.intValue else {
            return rest.map(\.stringValue).joined(separator: ".")
        }
        rest = rest.dropFirst(2)
        let key = rest.map { part in part.intValue.map { "\($0 + 1)" } ?? part.stringValue }.joined(separator: ".")
        return "rule \(index + 1)" + (key.isEmpty ? "" : ", \(key)")
    }

    private static func name(of type: Any.Type) -> String {
        if type is String.Type { return "a text" }
        if type is Bool.Type { return "true or false" }
        if type is any BinaryInteger.Type { return "a whole number" }
        if type is any Sequence.Type, !(type is any ExpressibleByDictionaryLiteral.Type) { return "a list" }
        return "an object"
    }
}
