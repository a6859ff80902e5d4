import MartletStorage

/// The names of the flags of a question about processes. Its dimensions are those of a sender.
package enum ProcessParameter: String, WindowParameterName {
    case since, until
    case service, environment, version, instance
    case step
}
