/// Thrown by a store that has more to write than it can keep in memory. Nothing of what it was given is stored; the same
/// later may be.
package struct StorageBusy: Error {
    package init() {}
}
