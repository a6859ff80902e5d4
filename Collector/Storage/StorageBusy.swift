/// The error of a store with as much waiting to be written as its limits allow. Nothing was stored; a later attempt may
/// succeed.
package struct StorageBusy: Error {
    package init() {}
}
