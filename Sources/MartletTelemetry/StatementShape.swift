/// A statement of a database without its values: `SELECT name FROM users WHERE id IN (?)`. Texts, numbers, placeholders and
/// comments are left out, and a list of values is as long as one. Statements that differ only in their values have one
/// shape. Where the end of a text is uncertain, the rest of the statement is left out with it.
package struct StatementShape: Sendable, Equatable {
    /// The greatest length of a name of a request, in bytes.
    package static let maxLength = 200
    /// The greatest length of a statement among the attributes of a span, in bytes.
    package static let maxTextLength = 2048

    package let text: String
    /// The first keyword in upper case, such as `SELECT`.
    package let operation: String

    /// Makes the shape of a statement. Of a command, whose words are keys and values, it has only the first word:
    /// `GET`. `nil` for a text that is neither SQL nor a command, such as a document.
    ///
    /// - Parameters:
    ///   - system: `db.system.name` or `db.system`; `nil` if it is unknown.
    ///   - limit: the bytes after which the shape is cut, between two tokens.
    package init?(_ statement: String, system: String?, limit: Int = maxLength) {
        let system = (system ?? "").lowercased()
        if Self.documents.contains(system) { return nil }
        if Self.commands.contains(system) {
            guard let name = Self.command(statement) else { return nil }
            (text, operation) = (name, name)
        } else {
            var writer = ShapeWriter(statement, StatementDialect(system), limit: limit)
            guard let first = writer.firstWord?.uppercased(), Self.keywords.contains(first) else { return nil }
            operation = first
            text = Self.namedByOperation.contains(first) ? first : writer.shape()
        }
    }

    /// Returns the summary of a statement as an instrument made it, such as `SELECT users`, without any values in it.
    package static func summary(_ text: String, system: String?) -> String {
        let system = (system ?? "").lowercased()
        if commands.contains(system) {
            // Commands that a client sends at once have commas between them.
            let isOfNames = text.utf8.allSatisfy { isOfCommand($0) || $0 == UInt8(ascii: ",") }
            if let names = isOfNames ? text.cut(toBytes: maxLength) : command(text) { return names }
        }
        var writer = ShapeWriter(text, StatementDialect(system), limit: maxLength)
        return writer.shape()
    }

    /// Returns an operation as an instrument names it: of a statement or a command only the first keyword. Some write
    /// `select`, or the name of the database behind it. `nil` if no part of the text is surely a name.
    package static func operation(_ text: String, system: String?) -> String? {
        keyword(text, (system ?? "").lowercased())
            ?? (isName(text) ? text : StatementShape(text, system: system)?.operation)
    }

    private static func keyword(_ text: String, _ system: String) -> String? {
        if commands.contains(system) { return command(text) }
        let words = text.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard let word = words.first?.uppercased() else { return nil }
        return documents.contains(system) || !keywords.contains(word) ? nil : word
    }

    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= maxLength && !text.utf8.contains { #"'"`=()?@:;*<>{}"#.utf8.contains($0) }
    }

    private static func isOfCommand(_ byte: UInt8) -> Bool {
        byte | 0x20 &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }

    private static func command(_ statement: String) -> String? {
        let word = statement.utf8.drop { $0 <= 0x20 }.prefix { isOfCommand($0) }
        let rest = statement.utf8[word.endIndex...].first ?? 0x20
        return word.isEmpty || word.count > 32 || rest > 0x20 ? nil : String(Substring(word)).uppercased()
    }

    /// The databases whose statements are commands.
    private static let commands: Set<String> = ["dragonfly", "keydb", "memcached", "redis", "valkey"]

    /// The databases whose statements are documents or paths, which hold values and names alike.
    private static let documents: Set<String> = [
        "aws.dynamodb", "cosmosdb", "couchbase", "couchdb", "dynamodb", "elasticsearch", "firestore", "gcp.firestore",
        "geode", "hbase", "mongodb", "opensearch",
    ]

    /// The first words of statements. A text that begins with another word is no statement, so any word in it may be a
    /// value.
    private static let keywords: Set<String> = [
        "ABORT", "ALTER", "ANALYZE", "ATTACH", "BEGIN", "CALL", "CHECKPOINT", "CLOSE", "CLUSTER", "COMMENT", "COMMIT",
        "COPY", "CREATE", "DEALLOCATE", "DECLARE", "DELETE", "DESC", "DESCRIBE", "DETACH", "DISCARD", "DO", "DROP",
        "END",
        "EXEC", "EXECUTE", "EXPLAIN", "FETCH", "FLUSH", "GRANT", "HANDLER", "IMPORT", "INSERT", "KILL", "LISTEN",
        "LOAD",
        "LOCK", "MATCH", "MERGE", "MOVE", "NOTIFY", "OPTIMIZE", "PRAGMA", "PREPARE", "REASSIGN", "REFRESH", "REINDEX",
        "RELEASE", "RENAME", "REPAIR", "REPLACE", "RESET", "REVOKE", "ROLLBACK", "SAVE", "SAVEPOINT", "SELECT", "SET",
        "SHOW", "START", "TABLE", "TRUNCATE", "UNLISTEN", "UNLOCK", "UPDATE", "UPSERT", "USE", "VACUUM", "VALUES",
        "WITH",
    ]

    /// The statements with a name that a client makes up each time.
    private static let namedByOperation: Set<String> = [
        "CLOSE", "DEALLOCATE", "FETCH", "MOVE", "RELEASE", "ROLLBACK", "SAVEPOINT",
    ]
}

/// Writes a statement's shape.
private struct ShapeWriter {
    /// A list in brackets, or the statement itself.
    private struct List {
        /// The beginning of its current element.
        var start: Int
        /// The element before; `nil` for none.
        var previous: Range<Int>?
        /// Whether the list follows `VALUES`.
        var isRow = false
        /// Whether its elements are values: it follows `VALUES` or `IN`.
        var hasValues = false
    }

    private enum Last {
        case start
        case word
        case name
        case value
        case comparison
        case open
        case close
        case comma
        case other
    }

    /// The depth of brackets in which lists become shorter.
    private static let deepest = 32

    /// The part of a `SET` statement that is next.
    private enum Setting {
        /// No such statement.
        case none
        /// The first word of a statement.
        case first
        case name
        case value
        /// The rest, after a value was written.
        case rest
    }

    private var tokens: StatementTokens
    private let limit: Int
    private var output: [UInt8] = []
    /// The end of the last token within the limit.
    private var cut = 0
    private var lists = [List(start: 0)]
    private var last = Last.start
    /// The last word in upper case, if it is short.
    private var word = ""
    /// Whether the last token ended a row of `VALUES`.
    private var isAfterRow = false
    /// Whether a comma after such a row is not written yet.
    private var hasPendingComma = false
    /// Whether white space was before a sign that was left out.
    private var isSignSpaced = false
    /// The number of open brackets that have no list, because they are too deep.
    private var tooDeep = 0
    private var setting = Setting.first

    init(_ statement: String, _ dialect: StatementDialect, limit: Int) {
        tokens = StatementTokens(statement, dialect)
        self.limit = limit
    }

    /// The first word, after brackets; `nil` if another token is first.
    var firstWord: String? {
        var tokens = tokens
        while let token = tokens.next() {
            if token == .symbol(UInt8(ascii: "(")) { continue }
            guard case .word(let range) = token, range.count <= 32 else { return nil }
            return String(decoding: tokens.bytes[range], as: UTF8.self)
        }
        return nil
    }

    mutating func shape() -> String {
        // Lists of equal elements become shorter again, so that the shape may be longer than the limit for a time.
        while output.count <= 4 * limit, let token = tokens.next() { take(token) }
        endElement()
        while output.last == UInt8(ascii: ";") { output.removeLast() }
        return String(decoding: output.count > limit ? output[..<cut] : output[...], as: UTF8.self)
    }

    private mutating func take(_ token: StatementToken) {
        if takeSetting(token) { return }
        if hasPendingComma {
            hasPendingComma = false
            if token == .symbol(UInt8(ascii: "(")) { return skipRow() }
            write(UInt8(ascii: ","))
            separate()
        }
        let wasAfterRow = isAfterRow
        isAfterRow = false
        switch token {
        case .value: writeValue()
        case .quotedName(let range): write(range, .name)
        case .doubleQuoted(let range):
            if isComparedWith || isBeforePassingName { writeValue() } else { write(range, .name) }
        case .word(let range): take(word: range)
        case .symbol(UInt8(ascii: ",")) where wasAfterRow: hasPendingComma = true
        case .symbol(let byte): take(symbol: byte)
        }
    }

    /// Takes a part of what a `SET` statement sets, whose words are values: a role, a schema. Returns `false` for any other token.
    private mutating func takeSetting(_ token: StatementToken) -> Bool {
        if token == .symbol(UInt8(ascii: ";")) { setting = .first }
        switch (setting, token) {
        case (.value, .symbol(UInt8(ascii: "."))):
            setting = .name
            return false
        case (.value, .symbol(UInt8(ascii: "="))): return false
        case (.value, _):
            writeValue()
            setting = .rest
            return true
        default: return setting == .rest
        }
    }

    /// Notes a word of a `SET` statement, or of any other.
    private mutating func noteSetting(_ word: String) {
        switch setting {
        case .first: setting = word == "SET" ? .name : .none
        case .name: setting = .value
        case .none, .value, .rest: break
        }
    }

    /// Whether a text in double quotes is a value here. SQLite takes it for one if it has no column of that name.
    private var isComparedWith: Bool {
        guard !tokens.isBefore(UInt8(ascii: ".")) else { return false }
        let isElement = lists.last?.hasValues == true && (last == .open || last == .comma)
        return last == .comparison || isElement || (last == .word && Self.wordsBeforeValues.contains(word))
    }

    private static let wordsBeforeValues: Set<String> = ["GLOB", "ILIKE", "LIKE", "MATCH", "PASSWORD", "REGEXP"]

    /// Whether a name is next that a client makes up each time, such as a cursor's.
    private var isBeforePassingName: Bool { last == .word && (word == "DECLARE" || word == "PREPARE") }

    private mutating func take(word range: Range<Int>) {
        let isAfterName = ["IS", "NOT"].contains(word) && last == .word
        let text = range.count > 10 ? "" : String(decoding: tokens.bytes[range], as: UTF8.self).uppercased()
        if ["NULL", "TRUE", "FALSE"].contains(text), !isAfterName { return writeValue() }
        if isBeforePassingName { return writeValue() }
        // Oracle's passwords need no quotes.
        let isBeforePassword = last == .word && word == "IDENTIFIED" && text == "BY"
        write(range, .word)
        word = text
        noteSetting(text)
        guard isBeforePassword else { return }
        writeValue()
        tokens.skipRest()
    }

    private mutating func take(symbol byte: UInt8) {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: "["): open(byte)
        case UInt8(ascii: ")"), UInt8(ascii: "]"): close(byte)
        case UInt8(ascii: ","), UInt8(ascii: ";"):
            write(byte)
            separate()
        case UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "~"): write(byte, .comparison)
        case UInt8(ascii: "-"), UInt8(ascii: "+"): if !skipSign() { write(byte) }
        default: write(byte)
        }
    }

    /// Skips the sign of a number. Returns `false` for an operator between two terms.
    private mutating func skipSign() -> Bool {
        guard tokens.isBeforeDigit, [.comparison, .open, .comma].contains(last) else { return false }
        isSignSpaced = tokens.isSpaced
        return true
    }

    // MARK: Lists

    private mutating func open(_ byte: UInt8) {
        let isRow = last == .word && (word == "VALUES" || word == "VALUE")
        let hasValues = isRow || (last == .word && word == "IN")
        write(byte, .open)
        guard lists.count < Self.deepest else { return tooDeep += 1 }
        lists.append(List(start: output.count, isRow: isRow, hasValues: hasValues))
    }

    private mutating func close(_ byte: UInt8) {
        if tooDeep > 0 {
            tooDeep -= 1
        } else if lists.count > 1 {
            endElement()
            isAfterRow = lists.last?.isRow == true
            lists.removeLast()
        }
        write(byte, .close)
    }

    private mutating func separate() {
        last = .comma
        guard tooDeep == 0 else { return }
        endElement(separatorBytes: 1)
        lists[lists.count - 1].start = output.count
    }

    /// Takes the current element of the innermost list out if it has values and equals the element before.
    ///
    /// - Parameter separatorBytes: the bytes behind the element, which stay if it does.
    private mutating func endElement(separatorBytes: Int = 0) {
        guard tooDeep == 0, let list = lists.last else { return }
        let element = trimmed(list.start..<max(list.start, output.count - separatorBytes))
        guard !element.isEmpty, output[element].contains(UInt8(ascii: "?")) else { return }
        if let previous = list.previous, output[previous] == output[element] {
            output.removeSubrange(previous.upperBound..<(output.count - separatorBytes))
            cut = min(cut, output.count)
        } else {
            lists[lists.count - 1].previous = element
        }
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        let start: Int = range.first { output[$0] != 0x20 } ?? range.upperBound
        return start..<range.upperBound
    }

    /// Skips a row of `VALUES`, whose opening bracket was read.
    private mutating func skipRow() {
        var depth = 1
        while depth > 0, let token = tokens.next() {
            if token == .symbol(UInt8(ascii: "(")) { depth += 1 }
            if token == .symbol(UInt8(ascii: ")")) { depth -= 1 }
        }
        isAfterRow = true
    }

    // MARK: Output

    private mutating func writeValue() {
        // Texts in sequence are one text.
        if last == .value { return }
        space()
        output.append(UInt8(ascii: "?"))
        end(.value)
    }

    private mutating func write(_ range: Range<Int>, _ kind: Last) {
        space()
        for byte in tokens.bytes[range] { output.append(byte < 0x20 || byte == 0x7f ? 0x20 : byte) }
        end(kind)
    }

    private mutating func write(_ byte: UInt8, _ kind: Last = .other) {
        let closes = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ")"), UInt8(ascii: "]")].contains(byte)
        if !closes { space() }
        output.append(byte)
        end(kind)
    }

    private mutating func space() {
        if last == .comma || ((tokens.isSpaced || isSignSpaced) && last != .start && last != .open) {
            output.append(0x20)
        }
    }

    private mutating func end(_ kind: Last) {
        last = kind
        isSignSpaced = false
        if output.count <= limit { cut = output.count }
    }
}
