import Foundation
import Synchronization

/// At SIGUSR1 the service closes every descriptor below the agent's folder, as one does that closes all, and uses their
/// numbers again. Whether they are still its own is to be asked at the end.
enum ClosedDescriptors {
    private static let taken = Mutex<[Int32]>([])

    /// Goes on as long as what it returns is held.
    static func awaitSignal(below folder: String) -> any DispatchSourceSignal {
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

    /// Numbers that somebody else has closed since, or closed and opened.
    static var missing: [Int32] { taken.withLock { $0.filter { path(of: $0) != "/dev/null" } } }

    private static func path(of number: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    }
}
