/// Something that is not as it was when capture checked it. The service does not notice; at the tenth the agent switches
/// itself off.
enum CaptureFault: String {
    case noTask = "a loader had no task at its end"
    case noHandle = "a loader had no libcurl handle"
    case noHeaders = "a transfer had no list of headers"
}
