import CMartletHooks
import Foundation
import MartletTelemetry

/// The record of this process in its directory of the buffer: a mapped file with its requests in flight, its last sign of
/// life and its crash. The process that finds the directory reads it (``EndedRecord``). Only for the agent's thread.
final class ProcessRecord: Sendable {
    static let fileName = "process"

    private let path: String
    private let number: UInt32

    /// Creates the file and directs requests and crashes into it. `nil` if there is no room for it, or the file system does
    /// not keep the promise of room: a write could end the process then.
    init?(in directory: URL) {
        path = directory.appendingPathComponent(Self.fileName).path
        // A file of this name may be mapped. It must not be cut.
        unlink(path)
        guard let file = OwnDescriptor(path: path, O_CREAT | O_EXCL | O_RDWR) else { return nil }
        number = Self.turn.withLock { _ in
            martlet_allocate_blocks(file.number, Int64(MARTLET_RECORD_BYTES)) == 0
                ? martlet_open_record(file.number) : 0
        }
        guard number > 0 else {
            unlink(path)
            return nil
        }
        writeHead()
    }

    /// The agents of a process take turns: one that ends must not end the use of the next one's record.
    private static let turn = ProcessLock(())

    private func writeHead() {
        change { record in
            record.pointee.start = Clock.wall()
            record.pointee.process_start = ProcessSample.processStart() ?? 0
            withUnsafeMutableBytes(of: &record.pointee.boot) {
                $0.copyBytes(from: MemoryPressure.boot().utf8.prefix(39))
            }
        }
        beat()
        noteMemoryLimit()
        change(martlet_begin_record)
    }

    /// Whether the file is in a directory, and still has its name there.
    func isIn(_ directory: URL) -> Bool {
        path == directory.appendingPathComponent(Self.fileName).path && access(path, F_OK) == 0
    }

    /// Notes that the process lives, and its memory. Called once a second, so it reads only one small file.
    func beat() {
        let memory = ProcessSample.residentMemory()
        change { record in
            if let memory { record.pointee.memory = memory }
            record.pointee.beat = Clock.wall()
        }
    }

    /// Notes the limit of the memory and the kernel's kills for memory. They change seldom, and are longer to read.
    func noteMemoryLimit() {
        let (limit, kills) = (MemoryPressure.limit(), MemoryPressure.kills())
        change { record in
            record.pointee.memory_limit = limit
            record.pointee.oom_kills = kills ?? .max
        }
    }

    /// Notes that the agent was asked to stop.
    func noteStop() { change { $0.pointee.stop_begun = Clock.wall() } }

    /// Notes the batch that reports the end, before it is stored.
    func noteReport(in sequence: UInt64) { change { $0.pointee.report_sequence = sequence } }

    /// Removes the file. Requests and crashes are no longer written down.
    func remove() {
        unlink(path)
        Self.turn.withLock { _ in martlet_close_record(number) }
    }

    private func change(_ body: (UnsafeMutablePointer<martlet_record>) -> Void) {
        if let record = martlet_record(number) { body(record) }
    }
}

/// A request in flight, as the process's record has it. Does nothing while the process keeps no record. Thread-safe, except
/// that only one thread at a time may name a request.
struct RequestSlot: Sendable {
    private let number: UInt32
    private let begin: UInt64

    /// Whether the process keeps a record. If not, a request needs no name.
    static var isKept: Bool { martlet_keeps_record() }

    /// A request without a slot.
    static let none = RequestSlot()

    private init() { (number, begin) = (0, 0) }

    /// Begins a request.
    ///
    /// - Parameters:
    ///   - start: the start, by any wall clock.
    ///   - name: the method and, separated by a space, the path with or without its host, or the route; empty if unknown.
    ///   - isRoute: whether the name has a route, which is not changed before it is reported.
    init(_ kind: RequestKind, start: UnixNanoseconds, name: String = "", isRoute: Bool = false) {
        // The numbers below 2 have another meaning in a slot.
        let begin = max(start, 2)
        self.begin = begin
        number = Self.withText(name) {
            martlet_begin_request(Self.flags(kind, isRoute), $0.baseAddress, $0.count, begin)
        }
    }

    func name(_ kind: RequestKind, _ name: String, isRoute: Bool) {
        guard number > 0 else { return }
        Self.withText(name) {
            martlet_name_request(number, begin, Self.flags(kind, isRoute), $0.baseAddress, $0.count)
        }
    }

    /// Ends the request. Only the first call counts. Call it only in the process in which the request began.
    func end() {
        if number > 0 { martlet_end_request(number, begin) }
    }

    private static func flags(_ kind: RequestKind, _ isRoute: Bool) -> UInt8 {
        UInt8((kind == .server ? MARTLET_SLOT_SERVED : 0) | (isRoute ? MARTLET_SLOT_ROUTE : 0))
    }

    @inline(__always)
    private static func withText<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        text.utf8.withContiguousStorageIfAvailable(body) ?? body(UnsafeBufferPointer(start: nil, count: 0))
    }
}
