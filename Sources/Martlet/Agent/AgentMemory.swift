/// The bytes that the agent holds in memory beside shipping's (``ShippingStatus/heldBytes``), roughly. `MARTLET_MAX_MEMORY`
/// limits both together, and `status` shows them.
///
/// The journal's files do not count: they are on the disk, and `MARTLET_BUFFER_MAX` counts them.
enum AgentMemory {
    static func bytes(of recorder: Recorder) -> Int { recorder.estimatedBytes + URLSessionCapture.inFlightBytes }
}
