/// Finds the end of an HTTP/1.1 request (RFC 9112, sections 6 and 7.1) in bytes that arrive in parts. A pure value.
struct RequestEndScanner {
    private enum Part {
        case head
        case body(bytes: Int)
        case chunkSize
        /// A chunk and the line break after it.
        case chunk(bytes: Int)
        case trailer
        case over
    }

    private var part = Part.head
    private var line: [UInt8] = []
    private var length = 0
    private var isChunked = false
    private var isWaiting = false

    /// The length up to which a line is kept, in bytes. The rest is ignored; libcurl sends no longer line.
    private static let longestLine = 256 << 10

    /// Returns whether the client waits for an interim answer before it sends the body. Returns `true` only once.
    mutating func takeExpectation() -> Bool {
        if case .head = part { return false }
        defer { isWaiting = false }
        return isWaiting
    }

    /// Takes the next bytes. Returns whether the request is complete.
    mutating func take(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch part {
            case .over: return true
            case .body(let bytes): skip(bytes, of: &rest, then: .over) { .body(bytes: $0) }
            case .chunk(let bytes): skip(bytes, of: &rest, then: .chunkSize) { .chunk(bytes: $0) }
            case .head, .chunkSize, .trailer: takeLine(&rest)
            }
        }
        if case .over = part { return true }
        return false
    }

    private mutating func skip(
        _ bytes: Int, of rest: inout ArraySlice<UInt8>, then next: Part, unless unfinished: (Int) -> Part
    ) {
        let taken = min(bytes, rest.count)
        rest = rest.dropFirst(taken)
        part = taken == bytes ? next : unfinished(bytes - taken)
    }

    private mutating func takeLine(_ rest: inout ArraySlice<UInt8>) {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            line += rest.prefix(Self.longestLine - min(line.count, Self.longestLine))
            return rest = []
        }
        let text = String(decoding: line + rest[..<end], as: UTF8.self)
        (line, rest) = ([], rest[(end + 1)...])
        take(line: text.hasSuffix("\r") ? text.dropLast() : text[...])
    }

    private mutating func take(line: Substring) {
        switch part {
        case .head where line.isEmpty:
            part = isChunked ? .chunkSize : length > 0 ? .body(bytes: length) : .over
        case .head:
            let field = line.split(separator: ":", maxSplits: 1)
            guard field.count == 2, case let value = field[1].drop(while: { $0 == " " }).lowercased() else { return }
            if field[0].lowercased() == "content-length" { length = Int(value) ?? 0 }
            if field[0].lowercased() == "expect" { isWaiting = value.hasPrefix("100-continue") }
            if field[0].lowercased() == "transfer-encoding" { isChunked = value.hasSuffix("chunked") }
        case .chunkSize:
            let size = Int(line.prefix(while: \.isHexDigit), radix: 16) ?? 0
            part = size > 0 ? .chunk(bytes: min(size, .max - 2) + 2) : .trailer
        case .trailer where line.isEmpty: part = .over
        case .trailer, .body, .chunk, .over: break
        }
    }
}
