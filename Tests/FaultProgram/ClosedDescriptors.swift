import Foundation
import Synchronization

/// At SIGUSR1 the service closes every descriptor below the agent's folder, as a service does that closes all its
/// descriptors, and opens other files under the same numbers. ``missing`` says at the end whether these are still
/// its own.
enum ClosedDescriptors {
    private static let taken = Mutex<[Int32]>([])

    /// Closes the descriptors at each signal for as long as the caller holds the returned source.
    static func closeOnSignal(below folder: String) -> any DispatchSourceSignal {
        signal(SIGUSR1, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .global())
        source.setEventHandler { close(below: folder) }
        source.resume()
        return source
    }

    private static func close(below folder: String) {
        for number in (3..<256 as Range<Int32>) where path(of: number)?.hasPrefix(folder) == true {
            Foundation.close(number)
            let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if null != number {
                dup2(null, number)
                Foundation.close(null)
            }
            taken.withLock { $0.append(number) }
        }
    }

    /// The reused numbers that other code has closed since, or has closed and opened again.
    static var missing: [Int32] { taken.withLock { $0.filter { path(of: $0) != "/dev/null" } } }

    private static func path(of number: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    }
}
