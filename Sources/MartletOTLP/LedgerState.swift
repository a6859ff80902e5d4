/// The values of `martlet.state`.
package enum LedgerState {
    package static let captured = "captured"
    package static let delivered = "delivered"
    package static let waiting = "waiting"
    package static let dropped = "dropped"
}
