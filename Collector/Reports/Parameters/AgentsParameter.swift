import MartletStorage

/// The names of the flags of the list of senders. Its dimensions are those of a sender.
package enum AgentsParameter: String, ParameterName {
    case since
    case service, environment, version, instance

    package static let defaultSince = "24h"
}
