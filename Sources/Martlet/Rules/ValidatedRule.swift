import Foundation

/// A valid rule, with its texts parsed.
struct ValidatedRule: Sendable {
    let name: String
    let match: RuleMatch
    let headers: [RuleDecision.HeaderChange]
    let action: RuleAction?
    let delay: Duration

    /// Whether the rule does more than change header fields. Of the matching rules that do, only the first applies.
    var decides: Bool { action != nil || delay > .zero }

    /// - Parameter number: the rule's number, from 1.
    init(_ rule: MartletRule, number: Int) throws(RuleError) {
        func check(_ isValid: Bool, _ key: String, _ reason: String) throws(RuleError) {
            guard isValid else { throw RuleError(rule: number, key: key, reason) }
        }
        if let name = rule.name {
            try check(!name.isEmpty && EnvironmentValue.name(name) != nil, "name", "empty, too long or not printable")
        }
        match = try RuleMatch(rule.match, ofRule: number)
        try check(rule.delay >= .zero && rule.delay <= Self.longestDelay, "delay", "not between 0 and a day")
        headers = try Self.changes(rule.header, number)
        let actions = try Self.actions(of: rule, number)
        try check(
            actions.count <= 1, actions.last?.key ?? "",
            "a rule has one of connect, redirect, respond, fail and block, and this one has "
                + actions.map(\.key).joined(separator: " and "))
        name = rule.name ?? String(number)
        action = actions.first?.action
        delay = rule.delay
        try check(!headers.isEmpty || decides, "match", "the rule changes nothing")
    }

    private static let longestDelay = Duration.seconds(86_400)

    private static func actions(
        of rule: MartletRule, _ number: Int
    ) throws(RuleError) -> [(key: String, action: RuleAction)] {
        var actions: [(key: String, action: RuleAction)] = []
        if let text = rule.connect {
            guard let (host, port) = address(text) else {
                throw RuleError(rule: number, key: "connect", "\"\(text)\" is not host:port")
            }
            actions.append(("connect", .connect(host: host, port: port)))
        }
        if let url = rule.redirect {
            guard let origin = origin(url) else {
                throw RuleError(
                    rule: number, key: "redirect", "not just a scheme, host and port, such as https://example.com")
            }
            actions.append(("redirect", .redirect(origin)))
        }
        if let response = rule.respond {
            actions.append(("respond", .respond(try answer(response, number))))
        }
        if let failure = rule.fail { actions.append(("fail", .fail(failure))) }
        if rule.block { actions.append(("block", .fail(.connectionRefused))) }
        return actions
    }

    /// Parses `host:port`; `nil` if it is something else.
    private static func address(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65535).contains(port), case let host = String(text[..<colon]), !host.isEmpty,
            !host.contains(":") || (host.hasPrefix("[") && host.hasSuffix("]")),
            EnvironmentValue.isGlob(host), !host.contains(where: { "/*,".contains($0) })
        else { return nil }
        return (host, port)
    }

    private static func origin(_ url: URL) -> RuleOrigin? {
        guard EnvironmentValue.address(url.absoluteString) != nil,
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), parts.user == nil,
            parts.path.isEmpty || parts.path == "/", let scheme = parts.scheme?.lowercased(), let host = parts.host,
            parts.port.map((1...65535).contains) ?? true
        else { return nil }
        let isBare = host.contains(":") && !host.hasPrefix("[")
        return RuleOrigin(scheme: scheme, host: isBare ? "[\(host)]" : host, port: parts.port)
    }

    // MARK: Header fields

    /// Fields that determine where a message ends. Changing one would break the connection instead of the request.
    private static let framing: Set<String> = ["content-length", "transfer-encoding"]

    private static func changes(
        _ header: MartletRule.Header, _ number: Int
    ) throws(RuleError) -> [RuleDecision.HeaderChange] {
        var changes: [RuleDecision.HeaderChange] = []
        for (index, name) in header.remove.enumerated() {
            try checkName(name, "header.remove.\(index + 1)", number)
            changes.append(RuleDecision.HeaderChange(name: name, value: nil))
        }
        for (name, value) in header.set.sorted(by: { $0.key < $1.key }) {
            try checkName(name, "header.set.\(name)", number)
            try checkValue(value, "header.set.\(name)", number)
            changes.append(RuleDecision.HeaderChange(name: name, value: value))
        }
        return changes
    }

    private static func answer(_ response: MartletRule.Response, _ number: Int) throws(RuleError) -> RuleAnswer {
        guard (200...599).contains(response.status) else {
            throw RuleError(rule: number, key: "respond.status", "\(response.status) is not between 200 and 599")
        }
        guard response.body.isEmpty || RuleAnswer.mayHaveBody(response.status) else {
            throw RuleError(rule: number, key: "respond.body", "an answer with \(response.status) has no body")
        }
        for (name, value) in response.headers.sorted(by: { $0.key < $1.key }) {
            let key = "respond.headers.\(name)"
            if name.lowercased() != "content-length" { try checkName(name, key, number) }
            try checkValue(value, key, number)
        }
        return RuleAnswer(response)
    }

    private static func checkName(_ name: String, _ key: String, _ number: Int) throws(RuleError) {
        guard HeaderName.isValid(name) else {
            throw RuleError(rule: number, key: key, "not a name of a header field")
        }
        guard !framing.contains(name.lowercased()) else {
            throw RuleError(rule: number, key: key, "the transfer itself needs this field")
        }
    }

    private static func checkValue(_ value: String, _ key: String, _ number: Int) throws(RuleError) {
        guard value.utf8.count <= 8192, value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }) else {
            throw RuleError(rule: number, key: key, "too long, or it has a control character")
        }
    }
}

/// The requests that a rule applies to, in a form that is fast to compare. A pure value.
struct RuleMatch: Sendable {
    private static let slash = UInt8(ascii: "/")

    private let host: Glob?
    private let port: Int?
    private let path: EndpointTemplate?
    private let method: String?
    private let header: [(name: String, value: Glob)]
    let share: Double

    /// - Parameter rule: the rule's number, for an error.
    init(_ match: MartletRule.Match, ofRule rule: Int) throws(RuleError) {
        func check(_ isValid: Bool, _ key: String, _ reason: String) throws(RuleError) {
            guard isValid else { throw RuleError(rule: rule, key: "match.\(key)", reason) }
        }
        if let host = match.host {
            try check(
                !host.isEmpty && EnvironmentValue.isGlob(host) && !host.contains("/"), "host",
                "\"\(host)\" is not a host; a port and a path have separate keys")
        }
        try check(match.port.map((1...65535).contains) ?? true, "port", "not a port")
        if let path = match.path {
            try check(
                EndpointTemplate(path) != nil, "path", "\"\(path)\" is not a path template, such as /users/{id}")
        }
        try check(match.method.map(HeaderName.isValid) ?? true, "method", "not a method")
        for name in match.header.keys.sorted() {
            try check(HeaderName.isValid(name), "header.\(name)", "not a name of a header field")
        }
        try check(match.share > 0 && match.share <= 1, "share", "not more than 0 and at most 1")
        host = match.host.map { Glob($0.lowercased()) }
        port = match.port
        path = match.path.flatMap(EndpointTemplate.init)
        method = match.method?.uppercased()
        header = match.header.sorted { $0.key < $1.key }.map { ($0.key, Glob($0.value)) }
        share = match.share
    }

    /// Returns whether all parts except the share match.
    ///
    /// - Parameter field: looks up a header field of the request by name.
    func holds(for target: RequestTarget, method: String, field: (String) -> String?) -> Bool {
        guard self.method.map({ $0 == method.uppercased() }) ?? true, port.map({ $0 == target.port }) ?? true,
            host?.matches(target.host) ?? true
        else { return false }
        guard matches(path: target.path) else { return false }
        return header.allSatisfy { name, value in field(name).map(value.matches) ?? false }
    }

    private func matches(path text: String) -> Bool {
        guard let path else { return true }
        let bytes = Array(text.utf8)
        return path.matches(
            bytes.dropFirst(bytes.first == Self.slash ? 1 : 0)
                .split(separator: Self.slash, omittingEmptySubsequences: false))
    }
}

/// Checks a method, or the name that a rule gives to a header field: a token (RFC 9110, section 5.6.2).
enum HeaderName {
    static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 255 && EnvironmentValue.isFieldName(name)
    }
}

/// The first error in a set of rules, for the log.
struct RuleError: Error, CustomStringConvertible {
    /// The rule and the key: `rule 2, match.share`; empty if the text is not JSON5.
    let place: String
    let reason: String

    /// - Parameters:
    ///   - rule: the rule's number, from 1.
    ///   - key: the key within the rule.
    init(rule: Int, key: String, _ reason: String) {
        self.init(place: "rule \(rule), \(key)", reason)
    }

    init(place: String, _ reason: String) {
        self.place = place
        self.reason = reason
    }

    var description: String { (place.isEmpty ? reason : "\(place): \(reason)").printable(upTo: 500) }
}
