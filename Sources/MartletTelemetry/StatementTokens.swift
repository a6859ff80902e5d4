/// A part of a statement, as far as its shape distinguishes parts. The ranges are those of the statement's bytes.
enum StatementToken: Equatable {
    /// A keyword or a plain name.
    case word(Range<Int>)
    /// A name in quotes or brackets, with them.
    case quotedName(Range<Int>)
    /// A text in double quotes, with them: a name, unless its place shows a value.
    case doubleQuoted(Range<Int>)
    /// A text, a number or a placeholder.
    case value
    case symbol(UInt8)
}

/// The differences between variants of SQL that decide where a text ends. A reader that ends a text at the wrong place takes
/// the contents of the next texts for names.
struct StatementDialect {
    enum Certainty {
        case yes
        case no
        /// The database is unknown. Where both answers differ, the rest of the statement counts as a text.
        case unknown
    }

    /// Whether a backslash in a text keeps the next character from ending it.
    var hasBackslash = Certainty.unknown
    /// Whether `#` begins a comment.
    var hasHashComment = Certainty.unknown
    /// Whether `//` may begin a comment, as in CQL and Cypher.
    var hasSlashComment = false
    /// Whether double quotes hold names, as in the standard. They hold texts otherwise.
    var doubleQuotesNames = false
    var bracketsNames = false
    var nestsComments = true
    /// Whether `$` is an ordinary character of names, and `--` begins a comment only before white space.
    var isMySQL = false

    /// - Parameter system: `db.system.name` or `db.system` in lower case.
    init(_ system: String) {
        switch system {
        case "mysql", "mariadb", "tidb", "percona":
            (hasBackslash, hasHashComment, nestsComments, isMySQL) = (.yes, .yes, false, true)
        case "microsoft.sql_server", "mssql", "sqlite", "azure.synapse":
            (hasBackslash, hasHashComment, doubleQuotesNames, bracketsNames) = (.no, .no, true, true)
        case "clickhouse", "snowflake":
            (hasBackslash, hasHashComment, doubleQuotesNames) = (.yes, .no, true)
        case "aws.redshift", "redshift":
            (hasHashComment, doubleQuotesNames) = (.no, true)
        case _ where Self.standard.contains(system):
            (hasBackslash, hasHashComment, doubleQuotesNames) = (.no, .no, true)
        default: hasSlashComment = true
        }
    }

    private static let standard: Set<String> = [
        "postgresql", "cockroachdb", "edb", "greenplum", "timescaledb", "vertica", "oracle", "oracle.db", "db2",
        "ibm.db2", "ibm.netezza", "netezza", "sap.hana", "hanadb", "sap.maxdb", "maxdb", "firebirdsql", "firebird",
        "derby", "h2database", "h2", "hsqldb", "teradata", "trino", "duckdb", "ingres", "actian.ingres",
    ]
}

/// Divides a statement into tokens, in linear time. It takes any bytes.
struct StatementTokens {
    /// The most bytes of a statement that are read, because a service's thread reads them.
    static let maxBytes = 256 * 1024

    let bytes: [UInt8]
    /// Whether the statement is longer. The last token may then be a part of a value.
    private let isCut: Bool
    private let dialect: StatementDialect
    private var index = 0
    /// Whether white space or a comment was before the last token.
    private(set) var isSpaced = false

    init(_ statement: String, _ dialect: StatementDialect) {
        bytes = Array(statement.utf8.prefix(Self.maxBytes))
        isCut = bytes.count < statement.utf8.count
        self.dialect = dialect
    }

    /// Returns the next token; `nil` after the last.
    mutating func next() -> StatementToken? {
        isSpaced = skipSpace()
        guard index < bytes.count else { return nil }
        let token = read()
        return isCut && index >= bytes.count ? .value : token
    }

    private mutating func read() -> StatementToken {
        if isAtUUID {
            index += Self.uuidBytes
            return .value
        }
        switch bytes[index] {
        case UInt8(ascii: "'"): return text(quote: UInt8(ascii: "'"), dialect.hasBackslash)
        case UInt8(ascii: "\""): return doubleQuoted()
        case UInt8(ascii: "`"): return name(until: UInt8(ascii: "`"))
        case UInt8(ascii: "[") where dialect.bracketsNames: return name(until: UInt8(ascii: "]"))
        case let byte where Self.isDigit(byte): return number()
        case UInt8(ascii: ".") where Self.isDigit(peek(1)): return number()
        case let byte where startsName(byte): return word()
        default: return placeholder() ?? symbol()
        }
    }

    /// Skips the rest of the statement.
    mutating func skipRest() { index = bytes.count }

    /// Whether the byte after the last token is `byte`.
    func isBefore(_ byte: UInt8) -> Bool { peek() == byte }

    /// Whether a digit is after the last token.
    var isBeforeDigit: Bool { Self.isDigit(peek()) || (peek() == UInt8(ascii: ".") && Self.isDigit(peek(1))) }

    /// Returns a byte after the last one read; 0 behind the end.
    private func peek(_ ahead: Int = 0) -> UInt8 { index + ahead < bytes.count ? bytes[index + ahead] : 0 }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte | 0x20 &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    private func startsName(_ byte: UInt8) -> Bool {
        Self.isLetter(byte) || (dialect.isMySQL && byte == UInt8(ascii: "$"))
    }

    private static func continuesName(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "$")
    }

    private mutating func skipName() { while Self.continuesName(peek()) { index += 1 } }

    private mutating func symbol() -> StatementToken {
        index += 1
        return .symbol(bytes[index - 1])
    }
}

// MARK: - White space and comments

extension StatementTokens {
    private mutating func skipSpace() -> Bool {
        let start = index
        while index < bytes.count {
            if bytes[index] <= 0x20 || bytes[index] == 0x7f { index += 1 } else if !skipComment() { break }
        }
        return index > start
    }

    private mutating func skipComment() -> Bool {
        switch (bytes[index], peek(1)) {
        case (UInt8(ascii: "-"), UInt8(ascii: "-")) where !dialect.isMySQL || peek(2) <= 0x20: skipLine()
        case (UInt8(ascii: "#"), _) where dialect.hasHashComment == .yes: skipLine()
        case (UInt8(ascii: "#"), _) where dialect.hasHashComment == .unknown: index = bytes.count
        case (UInt8(ascii: "/"), UInt8(ascii: "/")) where dialect.hasSlashComment: index = bytes.count
        case (UInt8(ascii: "/"), UInt8(ascii: "*")): skipBlock()
        default: return false
        }
        return true
    }

    private mutating func skipLine() {
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
    }

    private mutating func skipBlock() {
        var depth = 0
        while index < bytes.count {
            switch (bytes[index], peek(1)) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")) where depth == 0 || dialect.nestsComments: depth += 1
            case (UInt8(ascii: "*"), UInt8(ascii: "/")): depth -= 1
            default:
                index += 1
                continue
            }
            index += 2
            if depth == 0 { return }
        }
    }
}

// MARK: - Texts and names

extension StatementTokens {
    private mutating func word() -> StatementToken {
        let start = index
        skipName()
        // The standard's text with Unicode escapes, such as U&'d\0061t'.
        if index - start == 1, bytes[start] | 0x20 == UInt8(ascii: "u"), peek() == UInt8(ascii: "&"),
            peek(1) == UInt8(ascii: "'")
        {
            index += 1
            return text(quote: UInt8(ascii: "'"), dialect.hasBackslash)
        }
        guard peek() == UInt8(ascii: "'"), index - start <= 2 else { return .word(start..<index) }
        switch String(decoding: bytes[start..<index], as: UTF8.self).lowercased() {
        case "e": return text(quote: UInt8(ascii: "'"), .yes)
        case "b", "n", "r", "x", "br", "rb": return text(quote: UInt8(ascii: "'"), dialect.hasBackslash)
        case "q", "nq": return delimitedText()
        default: return .word(start..<index)
        }
    }

    private mutating func text(quote: UInt8, _ hasBackslash: StatementDialect.Certainty) -> StatementToken {
        _ = skipQuoted(quote, hasBackslash)
        return .value
    }

    /// Reads a text like Oracle's `q'[…]'`.
    private mutating func delimitedText() -> StatementToken {
        let open = peek(1)
        let pairs: [UInt8: UInt8] = [0x28: 0x29, 0x3c: 0x3e, 0x5b: 0x5d, 0x7b: 0x7d]
        let close = pairs[open] ?? open
        index += 2
        while index < bytes.count, peek() != close || peek(1) != UInt8(ascii: "'") { index += 1 }
        index = min(index + 2, bytes.count)
        return .value
    }

    private mutating func doubleQuoted() -> StatementToken {
        let start = index
        guard dialect.doubleQuotesNames else { return text(quote: UInt8(ascii: "\""), dialect.hasBackslash) }
        return skipQuoted(UInt8(ascii: "\""), .no) ? .doubleQuoted(start..<index) : .value
    }

    private mutating func name(until close: UInt8) -> StatementToken {
        let start = index
        return skipQuoted(close, .no) ? .quotedName(start..<index) : .value
    }

    /// Skips to the end of a quoted part, in which a doubled quote is a character. Returns `false` if it has no end, or no
    /// certain one. It reaches to the end of the statement then.
    private mutating func skipQuoted(_ close: UInt8, _ hasBackslash: StatementDialect.Certainty) -> Bool {
        index += 1
        // Three quotes may begin a text that ends at three, as in BigQuery.
        if hasBackslash == .unknown, peek() == close, peek(1) == close { index = bytes.count }
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == close {
                guard peek() == close else { return true }
                index += 1
            } else if byte == UInt8(ascii: "\\"), hasBackslash != .no {
                if hasBackslash == .unknown, peek() == close { break }
                if hasBackslash == .yes || peek() == byte { index += 1 }
            }
        }
        index = bytes.count
        return false
    }
}

// MARK: - Numbers and placeholders

extension StatementTokens {
    private static let uuidBytes = 36

    /// Whether a UUID is next. In CQL it has no quotes.
    private var isAtUUID: Bool {
        guard peek(8) == UInt8(ascii: "-"), peek(Self.uuidBytes - 1) != 0 else { return false }
        for offset in 0..<Self.uuidBytes {
            let byte = peek(offset)
            let isHyphen = offset == 8 || offset == 13 || offset == 18 || offset == 23
            guard isHyphen ? byte == UInt8(ascii: "-") : Self.isHexDigit(byte) else { return false }
        }
        return !Self.continuesName(peek(Self.uuidBytes))
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte | 0x20 &- UInt8(ascii: "a") < 6
    }

    private mutating func number() -> StatementToken {
        while Self.continuesName(peek()) || peek() == UInt8(ascii: ".") {
            let isExponent = peek() | 0x20 == UInt8(ascii: "e")
            index += 1
            if isExponent, peek() == UInt8(ascii: "-") || peek() == UInt8(ascii: "+"), Self.isDigit(peek(1)) {
                index += 1
            }
        }
        return .value
    }

    /// Reads a placeholder, or a text in dollar quotes; `nil` for any other token.
    private mutating func placeholder() -> StatementToken? {
        switch bytes[index] {
        case UInt8(ascii: "?"): break
        case UInt8(ascii: "$"): if let text = dollarQuoted() { return text }
        case UInt8(ascii: "%"): return formatted()
        case UInt8(ascii: ":"), UInt8(ascii: "@"):
            // A cast or a variable of the server, such as `::date` or `@@version`.
            if peek(1) == bytes[index] { return nil }
            if index > 0, bytes[index - 1] == bytes[index] { return nil }
        default: return nil
        }
        guard bytes[index] == UInt8(ascii: "?") || Self.continuesName(peek(1)) else { return nil }
        index += 1
        skipName()
        return .value
    }

    /// Reads a placeholder like Python's `%s` and `%(name)s`.
    private mutating func formatted() -> StatementToken? {
        var end = index + 1
        if peek(1) == UInt8(ascii: "(") {
            end += 1
            while end < bytes.count, Self.continuesName(bytes[end]) { end += 1 }
            guard end < bytes.count, bytes[end] == UInt8(ascii: ")") else { return nil }
            end += 1
        }
        guard end < bytes.count, [0x73, 0x62, 0x74, 0x64].contains(bytes[end]),
            end + 1 == bytes.count || !Self.continuesName(bytes[end + 1])
        else { return nil }
        index = end + 1
        return .value
    }

    /// Reads a text like PostgreSQL's `$$…$$` and `$tag$…$tag$`.
    private mutating func dollarQuoted() -> StatementToken? {
        var end = index + 1
        while end < bytes.count, Self.isLetter(bytes[end]) || (end > index + 1 && Self.isDigit(bytes[end])) { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "$") else { return nil }
        let tag = bytes[index...end]
        index = end + 1
        while index < bytes.count, peek() != UInt8(ascii: "$") || !bytes[index...].starts(with: tag) { index += 1 }
        index = min(index + tag.count, bytes.count)
        return .value
    }
}
