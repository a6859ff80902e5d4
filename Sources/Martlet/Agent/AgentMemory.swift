/// What the agent holds in memory, roughly: what `MARTLET_MAX_MEMORY` limits, and `status` shows.
///
/// The journal's files are not in it: they are on the disk, and counted to `MARTLET_BUFFER_MAX`.
enum AgentMemory {
    static func bytes(_ recorder: Recorder, _ shipping: ShippingAccount) -> Int {
        recorder.estimatedBytes + Capture.inFlightBytes + shipping.journalBytes + shipping.memoryBatchBytes
            + shipping.encodingBytes
    }
}
