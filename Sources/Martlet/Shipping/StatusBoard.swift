/// The status of shipping, which its parts write and any thread reads. Thread-safe.
final class StatusBoard: Sendable {
    private let state = Lock(State())
    private let heldByOthers: @Sendable () -> Int

    private struct State {
        var status = ShippingStatus()
        /// The most memory that the agent held since the last ``takeMostMemory()``, in bytes.
        var mostMemory = 0
    }

    /// - Parameter heldByOthers: the memory that the agent's other parts hold at this moment, in bytes.
    init(heldByOthers: @escaping @Sendable () -> Int) {
        self.heldByOthers = heldByOthers
    }

    var status: ShippingStatus { state.withLock(\.status) }

    func update(_ change: (inout ShippingStatus) -> Void) { state.withLock { change(&$0.status) } }

    /// Notes the memory that encoding holds beside the values that it encodes, in bytes; it is there for a moment only.
    func noteEncoding(_ bytes: Int) {
        update { $0.encodingBytes = bytes }
        let others = heldByOthers()
        state.withLock { $0.mostMemory = max($0.mostMemory, others + $0.status.heldBytes) }
    }

    /// The most memory that the agent held since the last call, or holds now, in bytes.
    func takeMostMemory() -> Int {
        let others = heldByOthers()
        return state.withLock { state in
            defer { state.mostMemory = 0 }
            return max(state.mostMemory, others + state.status.heldBytes)
        }
    }
}
