import CMartletHooks
import Dispatch
import Foundation
import MartletTelemetry

#if os(Linux) && canImport(Runtime)
import Runtime
#endif

/// Finds the places in the code of the main program to which addresses of an ended process belong. It reads the program's
/// debug information, which takes some milliseconds and some memory, so only the agent's thread calls it.
enum CodePlaces {
    /// The main program of this process.
    struct Program {
        /// Where it is loaded, and the end of its code.
        let addresses: Range<UInt64>
        /// Its build id; empty if it has none. A build id is the same only for the same bytes.
        let build: [UInt8]

        static let own = Program()

        private init() {
            var record = martlet_record()
            martlet_begin_record(&record)
            addresses = record.image_base..<max(record.image_base, record.image_end)
            build = withUnsafeBytes(of: record.build) { Array($0.prefix(Int(record.build_length))) }
        }
    }

    /// Returns the innermost places of a crash, at most ``MartletLimits/crashFrames``: those with a line or, if the program has
    /// no debug information, the functions. Empty if the program has no symbols either. Only libraries that are linked into
    /// the program have functions without a line in a program that has lines.
    ///
    /// - Parameters:
    ///   - offsets: addresses within the main program, the innermost first. All but the first are return addresses.
    ///   - isFirstReturn: whether the first is a return address too.
    static func find(_ offsets: [UInt64], isFirstReturn: Bool) -> [CodePlace] {
        let all = CodeSearch { symbolicate(offsets, isFirstReturn: isFirstReturn) }.run()
        let lines = all.filter { $0.line != nil }
        let places = lines.isEmpty ? all : lines
        // One call of a recursion is enough.
        let different = zip(places, [nil] + places.map(Optional.init)).filter { $0 != $1 }.map(\.0)
        return Array(different.prefix(MartletLimits.crashFrames))
    }

    /// Returns an address as the place in a program whose symbols are unknown.
    static func unknown(_ offset: UInt64, of program: String) -> CodePlace {
        CodePlace(function: "\(program)+0x\(String(offset, radix: 16))")
    }

    /// Returns the last two parts of a path. The others are of the machine that built the program.
    static func shortened(_ path: String) -> String {
        path.split(separator: "/").suffix(2).joined(separator: "/")
    }

    #if os(Linux) && canImport(Runtime)
    private static func symbolicate(_ offsets: [UInt64], isFirstReturn: Bool) -> [CodePlace] {
        let program = Program.own
        let addresses = offsets.map { program.addresses.lowerBound &+ $0 }
        guard !program.build.isEmpty, let trace = Trace(addresses, isFirstReturn: isFirstReturn, in: program).decoded,
            let images = trace.images, images.count == 1, images[0].uniqueID == program.build,
            let symbols = trace.symbolicated(with: images)
        else { return [] }
        return symbols.frames.compactMap { CodePlace($0) }
    }

    /// A backtrace in the form that `Backtrace` is encoded in (swift/docs/CompactBacktraceFormat.md and
    /// CompactImageMapFormat.md), because it has no other public initializer. `ImageMap.capture()` must not be called in a
    /// service: it reads the begin of every mapped file, and ends the process at one that cannot be read, such as the
    /// mapping of the agent's lock.
    private struct Trace: Encodable {
        let architecture: String
        let backtrace: String
        let imageMap: String

        init(_ addresses: [UInt64], isFirstReturn: Bool, in program: Program) {
            #if arch(arm64)
            architecture = "aarch64"
            #else
            architecture = "x86_64"
            #endif
            // The version, for words of 64 bits; then each frame with all eight bytes of its address; then the end.
            var bytes: [UInt8] = [0x02]
            for (index, address) in addresses.enumerated() {
                bytes.append(index == 0 && !isFirstReturn ? 0x1F : 0x2F)
                bytes += Self.word(address)
            }
            backtrace = Data(bytes + [0]).base64EncodedString()
            imageMap = Data(Self.map(program)).base64EncodedString()
        }

        /// The version, the platform, and one image: its begin and the length of its code in eight bytes each, its build id,
        /// and its path. Each text has its length before it, a path an end, too.
        private static func map(_ program: Program) -> [UInt8] {
            let platform = Array("Linux".utf8)
            let path = Array("/proc/self/exe".utf8)
            // Swift 6.2 does not type-check these as one expression.
            var bytes: [UInt8] = [0x02, UInt8(platform.count)]
            bytes += platform
            bytes += [1, 0x3F]
            bytes += word(program.addresses.lowerBound)
            bytes += word(UInt64(program.addresses.count))
            bytes.append(UInt8(program.build.count))
            bytes += program.build
            bytes.append(UInt8(path.count))
            bytes += path
            bytes.append(0)
            return bytes
        }

        private static func word(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }

        var decoded: Backtrace? {
            (try? JSONEncoder().encode(self)).flatMap { try? JSONDecoder().decode(Backtrace.self, from: $0) }
        }
    }
    #else
    private static func symbolicate(_ offsets: [UInt64], isFirstReturn: Bool) -> [CodePlace] { [] }
    #endif
}

/// A search on a thread that ends with it, because `Runtime` keeps what it has read of a program as long as the thread lives:
/// 17 MB of memory for a program of 73 MB.
private final class CodeSearch: Sendable {
    private let search: @Sendable () -> [CodePlace]
    private let places = Lock<[CodePlace]>([])
    private let isOver = DispatchSemaphore(value: 0)

    init(_ search: @escaping @Sendable () -> [CodePlace]) { self.search = search }

    /// Returns the places; none if there can be no further thread. Waits for the end of the search.
    func run() -> [CodePlace] {
        let own = Unmanaged.passRetained(self)
        let error = martlet_start_thread(
            { context in
                guard let context else { return }
                Unmanaged<CodeSearch>.fromOpaque(context).takeRetainedValue().find()
            }, own.toOpaque())
        guard error == 0 else {
            own.release()
            return []
        }
        isOver.wait()
        return places.withLock { $0 }
    }

    private func find() {
        let found = search()
        places.withLock { $0 = found }
        isOver.signal()
    }
}

#if os(Linux) && canImport(Runtime)
extension CodePlace {
    /// The compiler's prefix for the name of a function that it has adapted to a caller.
    private static let specialized = "specialized "

    /// `nil` for code that nobody wrote: a thunk, or Swift's own trap, whose name would be a message.
    fileprivate init?(_ frame: SymbolicatedBacktrace.Frame) {
        guard let symbol = frame.symbol, !frame.isSwiftRuntimeFailure, !frame.isSwiftThunk else { return nil }
        let name =
            symbol.name.hasPrefix(Self.specialized) ? symbol.name.dropFirst(Self.specialized.count) : symbol.name[...]
        self.init(function: String(name).cut(toBytes: MartletLimits.spanName))
        guard let source = symbol.sourceLocation, source.line > 0, !frame.isSystem,
            source.path != "<compiler-generated>"
        else { return }
        (file, line) = (CodePlaces.shortened(source.path), source.line)
    }
}
#endif
