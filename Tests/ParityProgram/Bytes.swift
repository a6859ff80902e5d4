import CMartletZlib
import Foundation

/// Bytes as a transcript shows them: the whole of a short text, or the size and checksum of anything longer.
struct Bytes: CustomStringConvertible {
    private static let shown = 200
    private var start = Data()
    private var count = 0
    private var checksum = crc32(0, nil, 0)

    init(_ data: Data = Data()) { append(data) }

    mutating func append(_ data: Data) {
        start.append(data.prefix(Self.shown - start.count))
        count += data.count
        checksum = data.withUnsafeBytes { bytes in
            crc32(checksum, bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(bytes.count))
        }
    }

    var description: String {
        count > Self.shown
            ? "\(count) bytes, crc32 \(checksum)" : String(reflecting: String(decoding: start, as: UTF8.self))
    }
}
