import CMartletHooks
import Foundation
import MartletTelemetry

/// The record that an ended process left (``ProcessRecord``). A plain value.
struct EndedRecord {
    private let head: martlet_record
    private let crash: martlet_crash
    private let slots: [Slot]

    /// The host as it is now, and the process that now has the number of the ended one.
    struct Host {
        var boot: String
        /// The number of processes that the kernel has killed because memory was short; `nil` if unknown.
        var memoryKills: UInt64?
        /// The start of the process with that number, in nanoseconds since the boot; `nil` if there is none.
        var processStart: UInt64?
    }

    /// `nil` if the bytes are not a whole record of this version's format.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= MARTLET_RECORD_BYTES else { return nil }
        head = bytes.loadUnaligned(as: martlet_record.self)
        guard head.magic == martlet_record_magic else { return nil }
        crash = bytes.loadUnaligned(fromByteOffset: Int(MARTLET_RECORD_CRASH), as: martlet_crash.self)
        slots = (0..<Int(MARTLET_RECORD_SLOTS)).compactMap { Slot(bytes, at: $0) }
    }

    /// The number of the process.
    var processID: UInt64 { head.pid }

    var start: UnixNanoseconds { head.start }

    /// The sequence of the batch that reports the end; 0 for none.
    var reportSequence: UInt64 { head.report_sequence }

    /// The number of processes that began to look up the lines of the crash, and ended before they had reported them.
    var searches: UInt64 { head.looked }

    /// A field that the process that reads the record writes.
    enum Note {
        case reportSequence, searches

        /// The field's offset in the file.
        var offset: Int {
            switch self {
            case .reportSequence: MemoryLayout<martlet_record>.offset(of: \.report_sequence) ?? 0
            case .searches: MemoryLayout<martlet_record>.offset(of: \.looked) ?? 0
            }
        }
    }

    /// The build id of the main program; empty if it has none.
    var build: [UInt8] {
        withUnsafeBytes(of: head.build) { Array($0.prefix(Int(min(head.build_length, UInt32(MARTLET_RECORD_BUILD))))) }
    }

    // MARK: The cause

    /// Returns why the process ended. What the process itself noted comes first. After that, the rules go from the cause
    /// with the most certain trace to the one with none.
    func cause(on host: Host) -> EndCause {
        if hasCrashed { return .signal }
        // A shutdown that ran out of time, and then an orderly exit.
        if head.exited != 0 { return head.stop_begun != 0 ? .clean : .exit }
        if boot != host.boot { return .hostDown }
        // The program was replaced (`exec`), and its process goes on.
        if let start = host.processStart, start == head.process_start { return .unknown }
        if isMemoryShort, let kills = host.memoryKills, kills > head.oom_kills { return .outOfMemory }
        return head.stop_begun != 0 || head.asked != 0 ? .noTime : .killed
    }

    /// Whether a signal ended the process. It has survived a signal after which it still lived for a while.
    private var hasCrashed: Bool {
        crash.signal != 0 && head.beat <= crash.time.adding(MartletLimits.survival.nanoseconds)
    }

    private var boot: String {
        withUnsafeBytes(of: head.boot) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private var isMemoryShort: Bool {
        head.memory_limit > 0 && Double(head.memory) >= Double(head.memory_limit) * MartletLimits.shortMemory
    }

    /// When the process ended, or its last sign of life.
    func time(of cause: EndCause) -> UnixNanoseconds {
        switch cause {
        case .signal: crash.time
        case .exit, .clean: head.exited
        default: max(head.beat, head.stop_begun, head.asked)
        }
    }

    // MARK: The crash

    /// The name of the signal.
    var signal: String { Self.signals[crash.signal] ?? "signal \(crash.signal)" }

    private static let signals = [
        SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGFPE: "SIGFPE", SIGSEGV: "SIGSEGV",
        SIGBUS: "SIGBUS",
    ]

    /// The addresses of the crash in the main program, relative to its begin, the innermost first.
    var offsets: [UInt64] { frames.filter(isInProgram).map { $0 - head.image_base } }

    /// Whether the first of ``offsets`` is a return address too, because the crash was in a library.
    var isFirstReturn: Bool { frames.first.map { !isInProgram($0) } ?? true }

    private var frames: [UInt64] {
        withUnsafeBytes(of: crash.frames) { frames in
            Array(frames.bindMemory(to: UInt64.self).prefix(Int(min(crash.frame_count, UInt32(MARTLET_RECORD_FRAMES)))))
        }
    }

    private func isInProgram(_ address: UInt64) -> Bool { address >= head.image_base && address < head.image_end }

    // MARK: Requests in flight

    /// The number of requests in flight, without those that found no slot.
    var inFlight: Int { slots.count }

    /// Returns the requests in flight by endpoint, at most ``MartletLimits/endedEndpoints``, those with the most first.
    func requests(_ namer: EndpointNamer) -> [InstanceEnd.Requests] {
        var counts: [Slot: Int] = [:]
        for slot in slots { counts[slot.named(by: namer), default: 0] += 1 }
        let sorted = counts.sorted { ($1.value, $0.key.name) < ($0.value, $1.key.name) }
        return sorted.prefix(MartletLimits.endedEndpoints).map { slot, count in
            InstanceEnd.Requests(kind: slot.isServed ? .server : .client, name: slot.name, count: count)
        }
    }

    private struct Slot: Hashable {
        let isServed: Bool
        var isRoute: Bool
        var name: String

        /// `nil` for a slot without a request, or one that was being written.
        init?(_ bytes: UnsafeRawBufferPointer, at index: Int) {
            let offset = Int(MARTLET_RECORD_FIRST_SLOT) + index * MemoryLayout<martlet_slot>.size
            let slot = bytes.loadUnaligned(fromByteOffset: offset, as: martlet_slot.self)
            guard slot.begin > 1 else { return nil }
            isServed = Int32(slot.flags) & Int32(MARTLET_SLOT_SERVED) != 0
            isRoute = Int32(slot.flags) & Int32(MARTLET_SLOT_ROUTE) != 0
            let text = withUnsafeBytes(of: slot.text) { Array($0.prefix(Int(slot.length))) }
            name = String(decoding: text, as: UTF8.self)
        }

        /// Returns the slot with the name of its endpoint in place of its path, which may hold a secret.
        func named(by namer: EndpointNamer) -> Slot {
            var slot = self
            slot.isRoute = true
            if name.isEmpty { slot.name = RequestDimensions.unmatched }
            guard !isRoute, let slash = name.firstIndex(of: "/") else { return slot }
            var path = String(name[slash...])
            if name.utf8.count >= MARTLET_RECORD_TEXT {
                // The last segment of a text that was cut may be the begin of any value.
                path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)] + "/{id}"
            }
            slot.name = name[..<slash] + namer.endpoint(ofPath: path)
            return slot
        }
    }
}
