import Foundation
import MartletTelemetry

/// A finished request in the journal: a fixed part, then its texts in sequence.
struct JournalRecord: ~Copyable {
    /// The offsets of the fields. The fields that identify the series come last, so that they can be compared as a
    /// whole.
    enum Field {
        static let word = 0
        static let start = 8
        static let duration = 16
        static let bytesSent = 24
        static let bytesReceived = 32
        static let phases = 40
        static let port = 88
        static let status = 92
        static let kind = 94
        static let flags = 95
        static let hostLength = 96
        static let pathLength = 98
        static let routeLength = 100
        static let methodLength = 102
        static let errorLength = 103
        static let texts = 104
    }

    private static let hasRoute: UInt8 = 1
    private static let hasError: UInt8 = 2
    /// The record has a rule's name after its other texts: a byte with its length, and the text.
    private static let hasRule: UInt8 = 4
    private static let isSecure: UInt8 = 8
    /// The bit of the kind that is set for a served request. The bits above it are the number of the conventions. Unless they
    /// are those of HTTP, the record has the system's name after its other texts, like a rule's.
    private static let isServed: UInt8 = 1
    private static let conventions: UInt8 = 2
    /// The flags from this one on are the number of the version of HTTP, three bits; 0 for none.
    private static let httpVersion: UInt8 = 16
    /// The longest texts that are kept, in bytes, so that a record is never longer than ``JournalFormat/longestRecord``.
    private static let longestHost = 512
    private static let longestPath = 2048
    private static let longestText = 255

    private let url: String?
    private let host: Range<Int>
    private let path: Range<Int>
    private let port: Int
    private let routeLength: Int
    private let methodLength: Int
    private let errorLength: Int
    private let ruleLength: Int
    private let systemLength: Int
    /// Bytes of the record, a multiple of ``JournalFormat/granule``.
    let length: Int

    /// Finds the texts of a request, and the length of its record.
    init(_ request: borrowing CapturedRequest) {
        let whole: Range<Int>
        // The text is read once, because a URL assembles it at each call.
        url = request.destination.url?.absoluteString
        if let url {
            let target = url.utf8.withContiguousStorageIfAvailable { TargetRanges(of: $0) }
            (host, whole, port) = target.map { ($0.host, $0.path, $0.port) } ?? (0..<0, 0..<0, 0)
        } else {
            let target = request.destination.target
            (host, whole, port) = (0..<target.host.utf8.count, 0..<target.path.utf8.count, target.port)
        }
        // A path may hold a secret, and is needed only to name the endpoint.
        path = request.route == nil ? whole : 0..<0
        routeLength = min(request.route?.utf8.count ?? 0, Self.longestText)
        methodLength = min(request.method.utf8.count, Self.longestText)
        errorLength = min(request.error?.utf8.count ?? 0, Self.longestText)
        ruleLength = min(request.rule?.utf8.count ?? 0, Self.longestText)
        let texts = min(host.count, Self.longestHost) + min(path.count, Self.longestPath)
        let rule = request.rule == nil ? 0 : 1 + ruleLength
        systemLength = min(request.system?.name.utf8.count ?? 0, Self.longestText)
        let system = request.system == nil ? 0 : 1 + systemLength
        length = JournalFormat.roundedUp(
            Field.texts + texts + routeLength + methodLength + errorLength + rule + system)
    }

    /// Writes the whole record except its first word.
    ///
    /// - Parameter bytes: exactly ``length`` bytes.
    func write(_ request: borrowing CapturedRequest, to bytes: UnsafeMutableRawBufferPointer) {
        // The last bytes are zeroes unless text is written over them.
        bytes.storeBytes(of: 0, toByteOffset: length - 8, as: UInt64.self)
        bytes.storeBytes(of: 0, toByteOffset: length - 16, as: UInt64.self)
        bytes.storeBytes(of: request.start, toByteOffset: Field.start, as: UInt64.self)
        bytes.storeBytes(of: request.durationNanoseconds, toByteOffset: Field.duration, as: UInt64.self)
        bytes.storeBytes(of: request.bytesSent, toByteOffset: Field.bytesSent, as: UInt64.self)
        bytes.storeBytes(of: request.bytesReceived, toByteOffset: Field.bytesReceived, as: UInt64.self)
        // Two of the eight lanes are unused: the next fields overwrite them.
        bytes.storeBytes(of: request.phases.lanes, toByteOffset: Field.phases, as: SIMD8<UInt64>.self)
        bytes.storeBytes(of: UInt32(clamping: port), toByteOffset: Field.port, as: UInt32.self)
        bytes.storeBytes(of: UInt16(clamping: request.status ?? 0), toByteOffset: Field.status, as: UInt16.self)
        bytes[Field.kind] =
            (request.kind == .client ? 0 : Self.isServed)
            | (request.system?.conventions.rawValue ?? 0) * Self.conventions
        bytes[Field.flags] =
            (request.route == nil ? 0 : Self.hasRoute) | (request.error == nil ? 0 : Self.hasError)
            | (request.rule == nil ? 0 : Self.hasRule) | (request.isSecure ? Self.isSecure : 0)
            | (request.httpVersion?.rawValue ?? 0) * Self.httpVersion
        var texts = TextWriter(bytes)
        let hostLength = texts.append(url ?? request.destination.target.host, host.prefix(Self.longestHost))
        let pathLength = texts.append(url ?? request.destination.target.path, path.prefix(Self.longestPath))
        bytes.storeBytes(of: UInt16(hostLength), toByteOffset: Field.hostLength, as: UInt16.self)
        bytes.storeBytes(of: UInt16(pathLength), toByteOffset: Field.pathLength, as: UInt16.self)
        if let route = request.route { _ = texts.append(route, 0..<routeLength) }
        bytes.storeBytes(of: UInt16(routeLength), toByteOffset: Field.routeLength, as: UInt16.self)
        _ = texts.append(request.method, 0..<methodLength)
        bytes[Field.methodLength] = UInt8(methodLength)
        if let error = request.error { _ = texts.append(error, 0..<errorLength) }
        bytes[Field.errorLength] = UInt8(errorLength)
        if let rule = request.rule { texts.append(rule, length: UInt8(ruleLength)) }
        if let system = request.system { texts.append(system.name, length: UInt8(systemLength)) }
    }
}

/// Writes texts in sequence.
private struct TextWriter {
    private let bytes: UnsafeMutableRawBufferPointer
    private var next = JournalRecord.Field.texts

    init(_ bytes: UnsafeMutableRawBufferPointer) {
        self.bytes = bytes
    }

    /// Returns how many bytes of the text were written.
    mutating func append(_ text: String, _ range: Range<Int>) -> Int {
        guard let target = bytes.baseAddress.map({ $0 + next }) else { return 0 }
        let room = bytes.count - next
        let count = text.utf8.withContiguousStorageIfAvailable { text -> Int in
            guard let source = text.baseAddress, range.upperBound <= text.count, range.count <= room else { return 0 }
            memcpy(target, source + range.lowerBound, range.count)
            return range.count
        }
        next += count ?? 0
        return count ?? 0
    }

    /// Writes a byte with the text's length, then the text.
    mutating func append(_ text: String, length: UInt8) {
        guard next < bytes.count else { return }
        bytes[next] = length
        next += 1
        _ = append(text, 0..<Int(length))
    }
}

// MARK: - Reading

extension JournalRecord {
    /// The fields that determine the series in which a request is counted.
    struct Identity {
        var kind: RequestKind
        var method: String
        var target: RequestTarget
        var route: String?
        var status: Int?
        var error: String?
        var rule: String?
        var system: CalledSystem?
        var isSecure = false
        var httpVersion: HTTPVersion?
    }

    /// Returns the identity of a record whose checksum is right; `nil` if the lengths of its texts are nevertheless
    /// wrong.
    static func read(_ bytes: UnsafeRawBufferPointer) -> Identity? {
        func length(_ field: Int) -> Int { Int(bytes.loadUnaligned(fromByteOffset: field, as: UInt16.self)) }
        var next = Field.texts
        func text(_ length: Int) -> String? {
            guard next + length <= bytes.count else { return nil }
            defer { next += length }
            return String(decoding: bytes[next..<next + length], as: UTF8.self)
        }
        /// A text after a byte with its length.
        func shortText() -> String? {
            guard next < bytes.count else { return nil }
            next += 1
            return text(Int(bytes[next - 1]))
        }
        let flags = bytes[Field.flags]
        guard let host = text(length(Field.hostLength)), let path = text(length(Field.pathLength)),
            let route = text(length(Field.routeLength)), let method = text(Int(bytes[Field.methodLength])),
            let error = text(Int(bytes[Field.errorLength]))
        else { return nil }
        var rule: String?
        if flags & hasRule != 0 {
            guard let text = shortText() else { return nil }
            rule = text
        }
        var system: CalledSystem?
        guard let conventions = RequestConventions(rawValue: bytes[Field.kind] / Self.conventions) else { return nil }
        if conventions != .http {
            guard let name = shortText() else { return nil }
            system = CalledSystem(name: name, conventions: conventions)
        }
        let status = length(Field.status)
        return Identity(
            kind: bytes[Field.kind] & isServed == 0 ? .client : .server, method: method,
            target: RequestTarget(
                host: host.lowercased(), port: Int(bytes.loadUnaligned(fromByteOffset: Field.port, as: UInt32.self)),
                path: path),
            route: flags & hasRoute == 0 ? nil : route, status: status == 0 ? nil : status,
            error: flags & hasError == 0 ? nil : error, rule: rule, system: system,
            isSecure: flags & isSecure != 0, httpVersion: HTTPVersion(rawValue: flags / httpVersion % 8))
    }

    /// The figures of a request that are counted.
    struct Figures {
        var start: UnixNanoseconds
        /// Nanoseconds.
        var duration: UInt64
        var bytesSent: UInt64
        var bytesReceived: UInt64
        var phases: PhaseDurations
    }

    /// Returns the figures of a record at least as long as its fixed part.
    static func figures(_ bytes: UnsafeRawBufferPointer) -> Figures {
        func number(_ field: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: field, as: UInt64.self) }
        var phases = SIMD8<UInt64>(repeating: .max)
        for index in 0..<(Field.port - Field.phases) / 8 { phases[index] = number(Field.phases + index * 8) }
        return Figures(
            start: number(Field.start), duration: number(Field.duration), bytesSent: number(Field.bytesSent),
            bytesReceived: number(Field.bytesReceived), phases: PhaseDurations(lanes: phases))
    }
}

/// Reads the records of a segment in sequence. It skips bytes that no checksum confirms, one granule at a time, so it
/// never returns part of a record.
struct JournalReader {
    private let records: UnsafeRawBufferPointer
    private let seed: UInt64
    private var offset = 0

    init(_ records: UnsafeRawBufferPointer, seed: UInt64) {
        self.records = records
        self.seed = seed
    }

    /// Returns the next record's bytes, at least as long as the fixed part; `nil` after the last.
    mutating func next() -> UnsafeRawBufferPointer? {
        while offset + JournalRecord.Field.texts <= records.count {
            let rest = UnsafeRawBufferPointer(rebasing: records[offset...])
            let word = JournalFormat.word(at: rest)
            let length = JournalFormat.length(ofWord: word)
            if Self.isPossible(length, in: rest.count) {
                let record = UnsafeRawBufferPointer(rebasing: rest[..<length])
                let checksum = JournalChecksum.checksum(of: record, seed: seed &+ UInt64(offset))
                if word == JournalFormat.word(length: length, checksum: checksum) {
                    offset += length
                    return record
                }
            }
            offset += JournalFormat.granule
        }
        return nil
    }

    /// Returns whether every reserved record is written. The word with a record's length is written last.
    static func isWritten(_ records: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset < records.count {
            let rest = UnsafeRawBufferPointer(rebasing: records[offset...])
            let length = JournalFormat.length(ofWord: JournalFormat.word(at: rest))
            guard isPossible(length, in: rest.count) else { return false }
            offset += length
        }
        return true
    }

    private static func isPossible(_ length: Int, in room: Int) -> Bool {
        length >= JournalRecord.Field.texts && length <= min(room, JournalFormat.longestRecord)
            && length % JournalFormat.granule == 0
    }
}
