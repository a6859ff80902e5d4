/// A part of a request's time. The raw value is the `martlet.phase` attribute on the wire and the key in reports.
///
/// Phases follow each other in the order of their cases. A request has only the phases that happened: a reused connection
/// has no ``dns``, no ``connect`` and no ``tls``.
package enum RequestPhase: String, Sendable, Hashable, CaseIterable {
    /// From `resume` to the start of the transfer.
    case queue
    /// The look-up of the server's name.
    case dns
    /// The TCP connection.
    case connect
    /// The TLS handshake.
    case tls
    /// From the moment at which the request, with its body, begins to be written, to the first byte of the answer.
    case firstByte = "first_byte"
    /// From the first byte of the answer to its end.
    case transfer

    /// The index of the phase in a vector.
    var lane: Int {
        switch self {
        case .queue: 0
        case .dns: 1
        case .connect: 2
        case .tls: 3
        case .firstByte: 4
        case .transfer: 5
        }
    }
}
