/// A condition that held when capture was installed and holds no longer. The service does not notice; at the tenth fault the
/// agent switches capture off.
enum CaptureFault: String {
    case noTask = "a loader had no task at its end"
    case noHandle = "a loader had no libcurl handle"
    case noHeaders = "a transfer had no list of headers"
}
