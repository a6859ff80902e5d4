import CMartletHooks
import Foundation
import MartletTelemetry

#if os(Linux) && canImport(Runtime)
import Runtime
#endif

/// Finds the places in the code of the main program to which addresses of an ended process belong. It reads the program's
/// debug information, which takes some milliseconds and some memory, so only the agent's thread calls it.
enum CodePlaces {
    /// The build id of the main program; empty if it has none. A build id is the same only for the same bytes.
    static var build: [UInt8] {
        var build = [UInt8](repeating: 0, count: Int(MARTLET_RECORD_BUILD))
        let length = martlet_build(&build)
        return Array(build.prefix(Int(length)))
    }

    /// Returns the innermost places of a crash, at most ``MartletLimits/crashFrames``: those with a line or, if the program has
    /// no debug information, the functions. Empty if the program has no symbols either. Only libraries that are linked into
    /// the program have functions without a line in a program that has lines.
    ///
    /// - Parameters:
    ///   - offsets: addresses within the main program, the innermost first. All but the first are return addresses.
    ///   - isFirstReturn: whether the first is a return address too.
    static func find(_ offsets: [UInt64], isFirstReturn: Bool) -> [CodePlace] {
        let all = symbolicate(offsets, isFirstReturn: isFirstReturn)
        let lines = all.filter { $0.line != nil }
        let places = lines.isEmpty ? all : lines
        // Of a recursion, one call is enough.
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
        let images = ImageMap.capture()
        let build = build
        guard !build.isEmpty, let own = images.first(where: { $0.uniqueID == build }),
            let base = UInt64("\(own.baseAddress)".dropFirst(2), radix: 16),
            let trace = Trace(offsets.map { base &+ $0 }, isFirstReturn: isFirstReturn).decoded,
            let symbols = trace.symbolicated(with: images)
        else { return [] }
        return symbols.frames.compactMap { CodePlace($0) }
    }

    /// A backtrace in the form that `Backtrace` is encoded in (swift/docs/CompactBacktraceFormat.md), because it has no other
    /// public initializer.
    private struct Trace: Encodable {
        let architecture: String
        let backtrace: String

        init(_ addresses: [UInt64], isFirstReturn: Bool) {
            #if arch(arm64)
            architecture = "aarch64"
            #else
            architecture = "x86_64"
            #endif
            // The version, for words of 64 bits; then each frame with all eight bytes of its address; then the end.
            var bytes: [UInt8] = [0x02]
            for (index, address) in addresses.enumerated() {
                bytes.append(index == 0 && !isFirstReturn ? 0x1F : 0x2F)
                withUnsafeBytes(of: address.bigEndian) { bytes.append(contentsOf: $0) }
            }
            backtrace = Data(bytes + [0]).base64EncodedString()
        }

        var decoded: Backtrace? {
            (try? JSONEncoder().encode(self)).flatMap { try? JSONDecoder().decode(Backtrace.self, from: $0) }
        }
    }
    #else
    private static func symbolicate(_ offsets: [UInt64], isFirstReturn: Bool) -> [CodePlace] { [] }
    #endif
}

#if os(Linux) && canImport(Runtime)
extension CodePlace {
    /// What the compiler puts before the name of a function that it has adapted to its caller.
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
