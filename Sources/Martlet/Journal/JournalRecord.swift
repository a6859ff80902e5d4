import Foundation
import MartletTelemetry

/// A finished request in the journal: a fixed part, then its texts one after the other.
enum JournalRecord {
    /// Where the fields stand. What tells one series from another comes last, so that it can be compared as a whole.
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

    /// Room for the fixed part and for texts of so many bytes.
    static func room(for request: CapturedRequest) -> Int {
        let texts = request.destination.bytes + request.method.utf8.count + (request.route?.utf8.count ?? 0)
        return min(
            JournalFormat.roundedUp(Field.texts + texts + (request.error?.utf8.count ?? 0)), JournalFormat.longestRecord)
    }

    /// Writes all but the first word, and returns how long the record is. Texts that find no room are cut.
    static func write(_ request: CapturedRequest, to bytes: UnsafeMutableRawBufferPointer) -> Int {
        bytes.storeBytes(of: request.start, toByteOffset: Field.start, as: UInt64.self)
        bytes.storeBytes(of: request.durationNanoseconds, toByteOffset: Field.duration, as: UInt64.self)
        bytes.storeBytes(of: request.bytesSent, toByteOffset: Field.bytesSent, as: UInt64.self)
        bytes.storeBytes(of: request.bytesReceived, toByteOffset: Field.bytesReceived, as: UInt64.self)
        // Eight lanes, the last two of which are not used: what comes next is written over them.
        bytes.storeBytes(of: request.phases.lanes, toByteOffset: Field.phases, as: SIMD8<UInt64>.self)
        bytes.storeBytes(
            of: UInt16(clamping: request.status ?? 0), toByteOffset: Field.status, as: UInt16.self)
        bytes.storeBytes(of: request.kind == .client ? 0 : 1, toByteOffset: Field.kind, as: UInt8.self)
        var flags: UInt8 = 0
        var texts = TextWriter(bytes)
        let port = texts.append(request.destination)
        bytes.storeBytes(of: UInt32(clamping: port), toByteOffset: Field.port, as: UInt32.self)
        if let route = request.route {
            flags |= hasRoute
            bytes.storeBytes(of: UInt16(texts.append(route)), toByteOffset: Field.routeLength, as: UInt16.self)
        } else {
            bytes.storeBytes(of: 0, toByteOffset: Field.routeLength, as: UInt16.self)
        }
        bytes[Field.methodLength] = UInt8(texts.append(request.method, upTo: 255))
        bytes[Field.errorLength] = 0
        if let error = request.error {
            flags |= hasError
            bytes[Field.errorLength] = UInt8(texts.append(error, upTo: 255))
        }
        bytes[Field.flags] = flags
        return texts.finish()
    }

    /// Of bytes whose checksum was right; `nil` where the lengths do not fit all the same.
    static func read(_ bytes: UnsafeRawBufferPointer) -> Identity? {
        func length(_ field: Int) -> Int { Int(bytes.loadUnaligned(fromByteOffset: field, as: UInt16.self)) }
        var next = Field.texts
        func text(_ length: Int) -> String? {
            guard next + length <= bytes.count else { return nil }
            defer { next += length }
            return String(decoding: bytes[next..<next + length], as: UTF8.self)
        }
        let flags = bytes[Field.flags]
        guard let host = text(length(Field.hostLength)), let path = text(length(Field.pathLength)),
            let route = text(length(Field.routeLength)), let method = text(Int(bytes[Field.methodLength])),
            let error = text(Int(bytes[Field.errorLength]))
        else { return nil }
        let status = length(Field.status)
        return Identity(
            kind: bytes[Field.kind] == 0 ? .client : .server, method: method,
            target: RequestTarget(
                host: host.lowercased(), port: Int(bytes.loadUnaligned(fromByteOffset: Field.port, as: UInt32.self)),
                path: path),
            route: flags & hasRoute == 0 ? nil : route, status: status == 0 ? nil : status,
            error: flags & hasError == 0 ? nil : error)
    }

    /// What tells where a request is counted.
    struct Identity {
        var kind: RequestKind
        var method: String
        var target: RequestTarget
        var route: String?
        var status: Int?
        var error: String?
    }

    /// Of a record at least as long as its fixed part.
    static func figures(_ bytes: UnsafeRawBufferPointer) -> Figures {
        func number(_ field: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: field, as: UInt64.self) }
        var lanes = SIMD8<UInt64>(repeating: .max)
        for lane in 0..<(Field.port - Field.phases) / 8 { lanes[lane] = number(Field.phases + lane * 8) }
        return Figures(
            start: number(Field.start), duration: number(Field.duration), bytesSent: number(Field.bytesSent),
            bytesReceived: number(Field.bytesReceived), phases: PhaseDurations(lanes: lanes))
    }

    /// What is counted of a request.
    struct Figures {
        var start: UnixNanoseconds
        /// Nanoseconds.
        var duration: UInt64
        var bytesSent: UInt64
        var bytesReceived: UInt64
        var phases: PhaseDurations
    }
}

/// Puts texts behind each other, within the record's room.
private struct TextWriter {
    private let bytes: UnsafeMutableRawBufferPointer
    private var next = JournalRecord.Field.texts

    init(_ bytes: UnsafeMutableRawBufferPointer) {
        self.bytes = bytes
    }

    /// Host and path; returns the port.
    mutating func append(_ destination: RequestDestination) -> Int {
        switch destination {
        case .url(let url):
            let text = url.absoluteString
            let port = text.utf8.withContiguousStorageIfAvailable { text in
                let target = PlainTarget(of: text)
                lengths(
                    host: append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[target.host]), 1024),
                    path: append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[target.path]), 2048))
                return target.port
            }
            guard let port else {
                lengths(host: 0, path: 0)
                return 0
            }
            return port
        case .target(let target):
            lengths(host: append(target.host, upTo: 1024), path: append(target.path, upTo: 2048))
            return target.port
        }
    }

    private func lengths(host: Int, path: Int) {
        bytes.storeBytes(of: UInt16(host), toByteOffset: JournalRecord.Field.hostLength, as: UInt16.self)
        bytes.storeBytes(of: UInt16(path), toByteOffset: JournalRecord.Field.pathLength, as: UInt16.self)
    }

    mutating func append(_ text: String, upTo limit: Int = 1024) -> Int {
        text.utf8.withContiguousStorageIfAvailable { append(UnsafeRawBufferPointer($0), limit) } ?? 0
    }

    private mutating func append(_ text: UnsafeRawBufferPointer, _ limit: Int) -> Int {
        let length = min(text.count, limit, bytes.count - next)
        if let from = text.baseAddress, let to = bytes.baseAddress { memcpy(to + next, from, length) }
        next += length
        return length
    }

    /// Fills up to the boundary and returns the record's length.
    func finish() -> Int {
        let end = min(JournalFormat.roundedUp(next), bytes.count)
        for index in next..<end { bytes[index] = 0 }
        return end
    }
}

extension RequestDestination {
    /// What its texts take at most.
    fileprivate var bytes: Int {
        switch self {
        case .url(let url): url.absoluteString.utf8.count
        case .target(let target): target.host.utf8.count + target.path.utf8.count
        }
    }
}
