/// Header fields within ``MartletLimits/headerBytes``.
struct HeaderFields: Sendable {
    private(set) var kept: [(name: String, value: String)] = []
    private(set) var bytes = 0
    /// The number of fields that exceeded the limit.
    private(set) var dropped: UInt32 = 0

    mutating func add(_ field: (name: String, value: String)) {
        let size = field.name.utf8.count + field.value.utf8.count
        guard size <= MartletLimits.headerBytes - bytes else { return dropped &+= 1 }
        kept.append(field)
        bytes += size
    }
}
