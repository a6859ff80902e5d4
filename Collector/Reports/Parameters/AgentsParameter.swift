/// The name of a flag of the list of senders.
package enum AgentsParameter: String, ParameterName {
    case since

    package static let defaultSince = "24h"
}
