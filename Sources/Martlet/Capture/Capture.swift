import Foundation
import Synchronization

/// Where every instrument of the process finds the agent that runs, and the switch that all of them read. There is one
/// for the process because a hook in a class is one for the process.
enum Capture {
    /// Read at the start and the end of every request: off, instruments see nothing, and what they stand in front of
    /// goes on unchanged.
    static let isOn = Atomic<Bool>(false)

    /// Set where sessions are captured one by one: of the two ways only one is in force, so that no request is seen twice.
    static let isExplicit = Atomic<Bool>(false)

    private static let connected = Mutex<Recorder?>(nil)

    /// `nil` while no agent runs, or it is switched off.
    static var recorder: Recorder? {
        isOn.load(ordering: .relaxed) ? connected.withLock { $0 } : nil
    }

    static func connect(to recorder: Recorder) {
        connected.withLock { $0 = recorder }
        isOn.store(true, ordering: .releasing)
    }

    static func disconnect() {
        isOn.store(false, ordering: .releasing)
        connected.withLock { $0 = nil }
    }
}
