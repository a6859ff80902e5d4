import CMartletHooks
import Dispatch
import Foundation

/// Notes in the process's record that SIGTERM has come, while the value lives. A service group stops the agent after all other
/// services, so a process that is killed before they are done would otherwise look like one that nobody has asked to stop.
final class TerminationWatch {
    private let source: any DispatchSourceSignal

    /// `nil` if the service does not take SIGTERM from libdispatch, as a service group does. The first source of a signal
    /// replaces the service's handler; a further one changes nothing for the service.
    init?() {
        guard Self.isDispatched(SIGTERM) else { return nil }
        source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: DispatchQueue(label: "martlet.termination"))
        source.setEventHandler { martlet_note_asked() }
        source.activate()
    }

    deinit { source.cancel() }

    /// Whether libdispatch has a source of a signal: then it has a handler for it, and a descriptor that gets only this signal
    /// (proc(5), `fdinfo`).
    static func isDispatched(_ signal: Int32) -> Bool {
        let folder = "/proc/self/fdinfo"
        guard martlet_handles(signal), let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            return false
        }
        return files.prefix(MartletLimits.searchedDescriptors).contains { file in
            mask(in: MemoryPressure.text(of: "\(folder)/\(file)") ?? "") == UInt64(1) << (signal - 1)
        }
    }

    private static func mask(in information: String) -> UInt64? {
        let line = information.split(separator: "\n").first { $0.hasPrefix("sigmask:") }
        return line.flatMap { UInt64($0.dropFirst("sigmask:".count).drop { $0 == "\t" }, radix: 16) }
    }
}
