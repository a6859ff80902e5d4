/// The bytes that the agent holds in memory, roughly. `MARTLET_MAX_MEMORY` limits them, and `status` shows them.
///
/// The journal's files do not count: they are on the disk, and `MARTLET_BUFFER_MAX` counts them.
enum AgentMemory {
    static func bytes(_ recorder: Recorder, _ shipping: ShippingAccount) -> Int {
        recorder.estimatedBytes + Capture.inFlightBytes + shipping.journalBytes + shipping.memoryBatchBytes
            + shipping.encodingBytes
    }
}
