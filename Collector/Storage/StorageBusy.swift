/// The store has as much waiting to be written as it holds. Nothing was stored; the same a moment later may be.
package struct StorageBusy: Error {
    package init() {}
}
