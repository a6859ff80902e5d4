/// A protobuf message put together from fields that are encoded already (Protocol Buffers, "Encoding", Length-Delimited
/// Records).
struct LengthDelimited {
    private(set) var bytes: [UInt8] = []

    /// - Parameter field: a number below 16.
    mutating func append(_ payload: [UInt8], field: UInt8) {
        bytes.append(field << 3 | 2)
        var length = payload.count
        while length > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        bytes.append(UInt8(length))
        bytes += payload
    }
}
