/// An estimate of the memory that the agent holds beside shipping's (``ShippingStatus/heldBytes``): both together are
/// `memoryBytes` of the status and limited by `MARTLET_MAX_MEMORY`.
///
/// The journal's files are not in it: they are on the disk, and counted to `MARTLET_BUFFER_MAX`.
enum AgentMemory {
    static func bytes(of recorder: Recorder) -> Int { recorder.estimatedBytes + URLSessionCapture.inFlightBytes }
}
